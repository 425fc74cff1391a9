export const GET = () => Response.json(['Ada', 'Grace'])
