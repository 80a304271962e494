import { Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useLanguage } from '../language/language.tsx';
import { Icon } from './icons.tsx';

/** Copies a text, also on pages without HTTPS. */
async function copy(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

export function CopyButton({ text, label, what }: { text: string; label?: string; what?: string }) {
  const { t } = useLanguage();
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={done ? undefined : what}
      leftSection={<Icon name={done ? 'check' : 'copy'} size={14} />}
      onClick={() => void copy(text).then(() => setDone(true))}
    >
      {done ? t('action.copied') : (label ?? t('action.copy'))}
    </Button>
  );
}
