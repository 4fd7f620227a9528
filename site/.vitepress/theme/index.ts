import DefaultTheme from 'vitepress/theme'
import DemoPanel from './DemoPanel.vue'
import FigureChart from './FigureChart.vue'
import './theme.css'

export default {
  ...DefaultTheme,
  enhanceApp({ app }) {
    app.component('GpuDemo', DemoPanel)
    app.component('FigureChart', FigureChart)
  },
}
