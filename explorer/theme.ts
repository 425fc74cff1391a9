/** Sets the theme before the first paint. The attribute also shows that scripts run. */
let stored: string | null = null
try {
  stored = localStorage.getItem('ratesmith-theme')
} catch {
  // The browser refuses storage.
}
document.documentElement.dataset['theme'] = stored === 'light' || stored === 'dark' ? stored : ''
