// Made of src/explorer/ by `npm run generate`.
export const contentSecurityPolicy: string = "default-src 'none'; style-src 'sha256-1iNZUjJBRQjMITvSIQ5PVvl16B1rbs1QIIpg/E53NyQ='; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
export const html: string = "<!doctype html><html lang=\"en\"><title>ratesmith</title><style>body { font-family: system-ui }</style></html>"
