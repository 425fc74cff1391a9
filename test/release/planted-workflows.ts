const SHA = '3d3c42e5aac5ba805825da76410c181273ba90b1'

/** A workflow that breaks no rule. */
export const SOUND = `name: sound
on:
  pull_request:
permissions: {}
concurrency:
  group: sound
jobs:
  build:
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@${SHA} # v7.0.1
        with:
          persist-credentials: false
      - uses: actions/setup-node@${SHA} # v7.0.0
        with:
          package-manager-cache: false
      - run: npm ci
  stage:
    needs: build
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    environment: npm
    permissions:
      id-token: write
    steps:
      - run: npm stage publish ./package.tgz
  draft:
    needs: stage
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    permissions:
      contents: write
    steps:
      - run: gh release create
        env:
          GH_TOKEN: \${{ github.token }}
`

const PINNED = 'uses four actions of GitHub, each pinned by its commit, with its version beside it'
const LEAST = 'starts with no permission, and gives each job what it needs'
const GRANTS = 'grants nothing but reading, drafting a release and staging a version'
const APART = 'runs no code of others where it can write or say who it is'
const REVIEWED = 'publishes from a reviewed environment alone, with no other right'
const STAGED = 'stages what it publishes, for a person to approve'
const CHECKOUT = 'leaves no credentials in what it checks out'
const STARTED = 'is started by nobody who may not write here, where it has rights'
const TEMPLATE = 'puts no expression into a command'
const CACHE = 'keeps nothing in a cache, from which one run could poison another'
const SECRET = 'knows no secret, and hands its own token to GitHub alone'
const TIME = 'ends in time'
const SYSTEM = 'names the release of the system that it runs on'
const BESIDE = 'says what may run beside it'
const FAILS = 'fails when something in it fails'

const STAGE = 'run: npm stage publish ./package.tgz'
const DRAFT = 'run: gh release create'

/** Faults: the rule that each breaks, what of the sound workflow gives way, and what comes in its place. */
export const PLANTS: [rule: string, sentence: string, fault: string][] = [
  [PINNED, `checkout@${SHA} # v7.0.1`, 'checkout@v7 # v7.0.1'],
  [PINNED, `checkout@${SHA} # v7.0.1`, `checkout@${SHA}`],
  [PINNED, `checkout@${SHA} # v7.0.1`, `checkout@${SHA.slice(0, 12)} # v7.0.1`],
  [PINNED, 'actions/setup-node@', 'someone/setup-node@'],
  [PINNED, 'run: npm ci', `uses: actions/github-script@${SHA} # v9.0.0`],
  [LEAST, 'permissions: {}', 'permissions: { contents: read }'],
  [LEAST, 'permissions: {}\n', ''],
  [LEAST, '    permissions:\n      contents: read\n', ''],
  [GRANTS, 'contents: read', 'packages: read'],
  [GRANTS, '    permissions:\n      contents: read', '    permissions: read-all'],
  [APART, 'contents: read', 'contents: write'],
  [APART, DRAFT, `${DRAFT} && npx release-it`],
  [APART, STAGE, `${STAGE}\n      - run: npm install --global npm`],
  [APART, STAGE, `${STAGE}\n      - run: .ci/release/pack`],
  [REVIEWED, 'environment: npm', 'environment: nobody'],
  [REVIEWED, '    environment: npm\n', ''],
  [REVIEWED, 'id-token: write', 'id-token: write\n      contents: read'],
  [REVIEWED, 'contents: write', 'id-token: write'],
  [REVIEWED, '    needs: build\n', ''],
  [STAGED, STAGE, 'run: npm publish ./package.tgz'],
  [STAGED, STAGE, `${STAGE}\n      - run: deno publish`],
  [CHECKOUT, 'persist-credentials: false', 'persist-credentials: true'],
  [CHECKOUT, 'persist-credentials: false', 'fetch-depth: 1'],
  [STARTED, 'pull_request:', 'pull_request_target:'],
  [STARTED, 'pull_request:', 'workflow_run:\n    workflows: [check]'],
  [STARTED, 'pull_request:', 'issue_comment:'],
  [TEMPLATE, 'run: npm ci', 'run: echo "${{ github.head_ref }}"'],
  [TEMPLATE, 'run: npm ci', 'run: |\n          npm ci\n          echo ${{ github.sha }}'],
  [CACHE, 'package-manager-cache: false', 'node-version: 24'],
  [CACHE, 'package-manager-cache: false', 'package-manager-cache: true'],
  [CACHE, 'package-manager-cache: false', 'package-manager-cache: false\n          cache: npm'],
  [SECRET, 'GH_TOKEN: ${{ github.token }}', 'GH_TOKEN: ${{ secrets.TOKEN }}'],
  [SECRET, 'run: gh release create', 'run: echo "$GH_TOKEN"; gh release create'],
  [SECRET, 'needs: build\n', 'needs: build\n    secrets: inherit\n'],
  [TIME, '    timeout-minutes: 10\n', ''],
  [TIME, 'timeout-minutes: 10', 'timeout-minutes: 360'],
  [SYSTEM, 'runs-on: ubuntu-24.04', 'runs-on: ubuntu-latest'],
  [SYSTEM, 'runs-on: ubuntu-24.04', 'runs-on: self-hosted'],
  [BESIDE, 'concurrency:\n  group: sound\n', ''],
  [FAILS, 'run: npm ci', 'run: npm ci\n        continue-on-error: true'],
  [FAILS, 'run: npm ci', 'run: npm ci || true'],
]
