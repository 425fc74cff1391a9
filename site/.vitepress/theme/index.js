import { onContentUpdated } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { h } from 'vue'

import { startLive } from '../../live/live-request.ts'
import { startOperations } from '../../live/operations.ts'
import './style.css'

/** Returns the command that installs the package, with the elements by which the theme copies a block of code. */
const renderInstall = () =>
  h('div', { class: 'install vp-doc' }, [
    h('div', { class: 'language-sh' }, [
      h('button', { class: 'copy', title: 'Copy code' }),
      h('span'),
      h('pre', h('code', 'npm install ratesmith')),
    ]),
  ])

const Layout = {
  setup() {
    onContentUpdated(() => {
      // The theme's front page has no landmark for its content.
      document.querySelector('.VPHome')?.setAttribute('role', 'main')
      // Its text, with the key that opens the search, is the better name.
      document.querySelector('.DocSearch-Button')?.removeAttribute('aria-label')
    })
    return () => h(DefaultTheme.Layout, null, { 'home-hero-actions-after': renderInstall })
  },
}

export default {
  extends: DefaultTheme,
  Layout,
  enhanceApp({ siteData }) {
    if (typeof document === 'undefined') return
    startLive(siteData.value.base)
    startOperations(siteData.value.base)
  },
}
