import node from '@astrojs/node'
import { defineConfig, passthroughImageService } from 'astro/config'
import { compressAssets } from './scripts/setup/compress-assets.mjs'
import { devPages } from './scripts/setup/dev-pages.mjs'
import { indexDocs } from './scripts/setup/index-docs.mjs'
import { keepDigests } from './scripts/setup/keep-digests.mjs'
import { portableSite } from './scripts/setup/portable-site.mjs'
import { markBuild } from './scripts/setup/site.mjs'

// Every page is rendered on demand inside the service's own process (site/server.ts), so the public origin is a setting of the
// running process and not of the build.
export default defineConfig({
  srcDir: './site',
  publicDir: './site/public',
  outDir: './dist',
  output: 'server',
  // A page is sent whole: in pieces it costs more, and none of it is known before its facts are.
  adapter: node({ mode: 'middleware', experimentalDisableStreaming: true }),
  integrations: [devPages(), indexDocs(), compressAssets(), keepDigests(), portableSite(), markBuild()],
  // By default the adapter keeps sessions in files; pages have no sessions.
  session: false,
  trailingSlash: 'never',
  compressHTML: true,
  build: { format: 'preserve', inlineStylesheets: 'always', assets: '_a' },
  // The scripts stand in the page like its styles, and are allowed by their hash: a request of their own would compete with the fonts.
  vite: { build: { assetsInlineLimit: path => path.endsWith('.js') } },
  // Pages have no pictures of the build, and the default would have the server import sharp.
  image: { service: passthroughImageService() },
  markdown: { syntaxHighlight: false },
  devToolbar: { enabled: false },
  security: {
    // Pages take no forms: routes of the service do, by a rule of their own (api/http/admit.ts), and have pages rendered for what they refuse.
    checkOrigin: false,
    csp: {
      directives: [
        "default-src 'none'",
        "img-src 'self'",
        "media-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
      ],
      scriptDirective: { resources: ["'self'"] },
      styleDirective: { resources: ["'self'"] },
    },
  },
})
