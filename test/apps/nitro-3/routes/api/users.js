export default () => ['Ada', 'Grace']
