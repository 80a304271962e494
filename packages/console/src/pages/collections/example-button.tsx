import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Icon } from '../../components/icons.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';

const labels = {
  create: { en: 'Create an example collection', zh: '创建示例集合' },
  instead: { en: 'Try an example instead', zh: '改为试用示例' },
} as const;

/** Creates a collection with documents by one click, and opens it. */
export function ExampleButton({ label = 'create' }: { label?: keyof typeof labels }) {
  const { code } = useLanguage();
  const { showError } = useToasts();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const create = async () => {
    setBusy(true);
    try {
      const { createExample } = await import('./example-collection.ts');
      const collectionId = await createExample(code);
      await queries.invalidateQueries({ queryKey: ['collections'] });
      await navigate({ to: '/collections/$collectionId', params: { collectionId } });
    } catch (error) {
      showError(error);
      setBusy(false);
    }
  };
  return (
    <Button variant="default" loading={busy} leftSection={<Icon name="play" size={16} />} onClick={() => void create()}>
      {labels[label][code]}
    </Button>
  );
}
