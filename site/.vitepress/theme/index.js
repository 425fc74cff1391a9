import DefaultTheme from 'vitepress/theme-without-fonts'

import { startLive } from '../../live/live-request.ts'
import './style.css'

export default {
  extends: DefaultTheme,
  enhanceApp({ siteData }) {
    if (typeof document !== 'undefined') startLive(siteData.value.base)
  },
}
