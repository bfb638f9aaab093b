import { useRoute } from 'vitepress';
import Theme from 'vitepress/theme-without-fonts';
import { onMounted, watch } from 'vue';
import { VersionSwitch } from './version-switch.mjs';
import './style.css';

export default {
  extends: Theme,
  enhanceApp: ({ app }) => app.component('VersionSwitch', VersionSwitch),
  setup() {
    const route = useRoute();
    const mark = () => document.querySelector('.VPContent.is-home')?.setAttribute('role', 'main');
    onMounted(() => watch(() => route.path, mark, { flush: 'post' }));
  },
};
