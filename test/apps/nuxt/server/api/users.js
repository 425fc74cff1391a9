export default defineEventHandler(() => ['Ada', 'Grace'])
