import { Button, VisuallyHidden } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useLanguage } from '../language/language.tsx';
import { copyText } from './copy-text.ts';
import { Icon } from './icons.tsx';

/** @param what the name of the button, which says what it copies */
export function CopyButton({ text, label, what }: { text: string; label?: string; what: string }) {
  const { t } = useLanguage();
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={done ? undefined : what}
        leftSection={<Icon name={done ? 'check' : 'copy'} size={14} />}
        onClick={() => void copyText(text).then(() => setDone(true))}
      >
        {done ? t('action.copied') : (label ?? t('action.copy'))}
      </Button>
      <VisuallyHidden role="status">{done ? t('action.copied') : ''}</VisuallyHidden>
    </>
  );
}
