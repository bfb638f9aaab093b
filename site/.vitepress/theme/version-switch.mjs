import { useData } from 'vitepress';
import { defineComponent, h, onMounted, ref } from 'vue';

/** Chooses among the versions of the site. A file in the root of the site lists all, also those newer than this page. */
export const VersionSwitch = defineComponent({
  setup() {
    const { theme, site } = useData();
    const current = theme.value.version;
    const versions = ref([{ name: current, base: site.value.base }]);
    onMounted(async () => {
      const answer = await fetch(theme.value.versions).catch(() => undefined);
      if (answer?.ok) versions.value = await answer.json();
    });
    const go = (event) => {
      const chosen = versions.value.find(({ name }) => name === event.target.value);
      if (chosen !== undefined && chosen.name !== current) location.assign(chosen.base);
    };
    return () =>
      h(
        'select',
        { class: 'versions', 'aria-label': 'Version of Portolan', onChange: go },
        versions.value.map(({ name }) => h('option', { value: name, selected: name === current }, name)),
      );
  },
});
