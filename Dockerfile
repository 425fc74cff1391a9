# docker build -t ratesmith . && docker run --init -p 127.0.0.1:8787:8787 ratesmith

FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
# The build needs no install scripts.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm pack

FROM node:24-bookworm-slim AS install
WORKDIR /app
COPY --from=build /build/ratesmith-*.tgz ./
RUN npm install --omit=dev --ignore-scripts --no-audit --no-fund \
    ./ratesmith-*.tgz @modelcontextprotocol/server@2.4.0 ioredis@6.0.0 undici@8.12.4

FROM node:24-bookworm-slim
WORKDIR /app
COPY --from=install /app/node_modules ./node_modules
# For --store: every user of the container can write to a volume mounted here.
RUN mkdir -m 1777 data
USER node
EXPOSE 8787
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
    CMD ["node", "-e", "fetch('http://127.0.0.1:8787/healthz').then(({ ok }) => process.exit(ok ? 0 : 1))"]
# A config file mounted at /app/config.ts is used; a folder, which Docker makes of a missing file, is an error. Arguments after the image name are additional flags; of two equal ones, the
# later one counts. `exec`, because a shell would not pass signals on.
ENTRYPOINT ["sh", "-c", "exec node node_modules/ratesmith/dist/cli.js serve --host 0.0.0.0 $(ls -d config.ts 2>/dev/null) \"$@\"", "serve"]
