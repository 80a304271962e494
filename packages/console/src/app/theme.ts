import { createTheme } from '@mantine/core';

/** System fonts, so that nothing is loaded from other origins. Shades have a contrast of at least 4.5. */
export const theme = createTheme({
  primaryColor: 'cyan',
  primaryShade: { light: 9, dark: 9 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  // Screen readers announce the error of a field when it appears.
  components: { InputWrapper: { defaultProps: { errorProps: { role: 'alert' } } } },
  fontFamily:
    'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "JetBrains Mono", "SF Mono", Menlo, Consolas, "Noto Sans Mono", monospace',
});
