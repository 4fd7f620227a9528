import DefaultTheme from 'vitepress/theme'
import { defineAsyncComponent, h } from 'vue'
import './theme.css'

// The demo uses navigator.gpu, so it is loaded in the browser alone.
export default {
  ...DefaultTheme,
  enhanceApp({ app }) {
    app.component(
      'GpuDemo',
      import.meta.env.SSR ? { render: () => h('div') } : defineAsyncComponent(() => import('./GpuDemo.vue')),
    )
  },
}
