import { ActionIcon, Button, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { Icon } from '../components/icons.tsx';
import { type LanguageCode, languages, useLanguage } from '../language/language.tsx';

/** Switches to the other language. The button shows that language's name in that language. */
export function LanguageChoice() {
  const { code, choose } = useLanguage();
  const other: LanguageCode = code === 'en' ? 'zh' : 'en';
  return (
    <Button
      size="compact-sm"
      variant="subtle"
      color="gray"
      c="var(--mantine-color-text)"
      lang={other}
      leftSection={<Icon name="globe" size={16} />}
      onClick={() => choose(other)}
    >
      {languages[other]}
    </Button>
  );
}

export function SchemeChoice() {
  const { t } = useLanguage();
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light') === 'dark';
  const label = t(isDark ? 'shell.toLight' : 'shell.toDark');
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      c="var(--mantine-color-text)"
      size="lg"
      aria-label={label}
      title={label}
      onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
    >
      <Icon name={isDark ? 'sun' : 'moon'} />
    </ActionIcon>
  );
}
