import { Button, Stack, Text } from '@mantine/core';
import type { FoundPackage } from '@quartermaster/contract';
import { useState } from 'react';
import { searchPackages } from '../../api/integrations.ts';
import { Card, CardButton, CardList } from '../../components/card-list.tsx';
import { useSubmit } from '../../components/forms/use-submit.ts';
import { useTexts } from './use-texts.ts';

interface PackageSearchProps {
  readonly words: string;
  readonly onChoose: (name: string) => void;
}

/** Finds packages in the registry by the words of the name field. */
export function PackageSearch({ words, onChoose }: PackageSearchProps) {
  const { own } = useTexts();
  const [found, setFound] = useState<FoundPackage[] | null>(null);
  const { failure, busy, submit } = useSubmit(async () => {
    setFound(null);
    setFound(await searchPackages(words.trim()));
  });
  return (
    <Stack gap="xs" align="flex-start">
      <Button variant="default" loading={busy} disabled={words.trim() === ''} onClick={submit}>
        {own('imports.search')}
      </Button>
      <Text size="sm" role="status">
        {failure ?? (found === null ? '' : `${own('imports.found')}: ${found.length}`)}
      </Text>
      {found === null || found.length === 0 ? null : (
        <CardList>
          {found.map(({ package: name, version, description }) => (
            <Card
              key={name}
              name={name}
              about={
                <>
                  <Text size="sm">
                    <code>{name}</code> {version}
                  </Text>
                  <Text size="xs" c="dimmed">
                    <bdi>{description}</bdi>
                  </Text>
                </>
              }
              actions={<CardButton label={own('imports.choose')} of={name} onClick={() => onChoose(name)} />}
            />
          ))}
        </CardList>
      )}
    </Stack>
  );
}
