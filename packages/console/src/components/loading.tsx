import { Skeleton, Stack, VisuallyHidden } from '@mantine/core';
import { useReducedMotion } from '@mantine/hooks';
import { useLanguage } from '../language/language.tsx';

/** Placeholder rows while content loads. */
export function Loading({ rows = 4 }: { rows?: number }) {
  const { t } = useLanguage();
  const isStill = useReducedMotion();
  return (
    <Stack gap="sm" aria-busy="true">
      <VisuallyHidden role="status">{t('loading')}</VisuallyHidden>
      {Array.from({ length: rows }, (_, i) => i).map((row) => (
        <Skeleton key={row} height={44} radius="md" animate={!isStill} />
      ))}
    </Stack>
  );
}
