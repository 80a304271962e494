import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import type { BundlePlan, BundlePlanRequest } from '@quartermaster/contract';
import { useRef, useState } from 'react';
import { planBundle } from '../../api/integrations.ts';
import { toDataUrl } from '../../components/data-url.ts';
import { useSubmit } from '../../components/forms/use-submit.ts';
import { useLanguage } from '../../language/language.tsx';
import { packageOf } from './places.ts';

/** Names a package of the registry, or takes its file. */
export function PlanForm({ onPlan }: { onPlan: (plan: BundlePlan) => void }) {
  const { t } = useLanguage();
  const [name, setName] = useState('');
  const [version, setVersion] = useState('');
  const [bundleId, setBundleId] = useState('');
  const [file, setFile] = useState<File | null>(null);
  const { failure, busy, submit } = useSubmit(async () => {
    const id = bundleId.trim() === '' ? {} : { bundle_id: bundleId.trim() };
    onPlan(await planBundle({ source: await sourceOf({ name, version, file }), ...id }));
  });
  return (
    <section aria-labelledby="find">
      <Title order={2} size="h4" id="find">
        {t('integrations.package')}
      </Title>
      <Text c="dimmed" size="sm" mb="md">
        {t('integrations.findAbout')}
      </Text>
      <form onSubmit={submit}>
        <Stack gap="md" maw={640}>
          <TextInput
            label={t('profiles.name')}
            description={file === null ? t('integrations.packageAbout') : t('integrations.file', { name: file.name })}
            placeholder="slack"
            value={name}
            disabled={file !== null}
            required={file === null}
            error={failure}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Group grow align="flex-end">
            <TextInput
              label={t('plugin.version')}
              value={version}
              disabled={file !== null}
              onChange={(event) => setVersion(event.currentTarget.value)}
            />
            <TextInput
              label={t('integrations.id')}
              placeholder="piece_slack"
              value={bundleId}
              onChange={(event) => setBundleId(event.currentTarget.value)}
            />
          </Group>
          <Group gap="xs">
            <Button type="submit" loading={busy}>
              {t('integrations.plan')}
            </Button>
            <FileButton file={file} onChange={setFile} />
          </Group>
          <Text size="sm" role="status">
            {busy ? t('integrations.planning') : ''}
          </Text>
        </Stack>
      </form>
    </section>
  );
}

interface FileButtonProps {
  readonly file: File | null;
  readonly onChange: (file: File | null) => void;
}

/** Chooses the file of a package, or drops the chosen one. */
function FileButton({ file, onChange }: FileButtonProps) {
  const { t } = useLanguage();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button variant="default" onClick={() => (file === null ? input.current?.click() : onChange(null))}>
        {t(file === null ? 'integrations.chooseFile' : 'integrations.noFile')}
      </Button>
      <input
        ref={input}
        type="file"
        accept=".tgz,.gz"
        hidden
        onChange={({ currentTarget }) => {
          onChange(currentTarget.files?.[0] ?? null);
          currentTarget.value = '';
        }}
      />
    </>
  );
}

interface Wanted {
  readonly name: string;
  readonly version: string;
  readonly file: File | null;
}

async function sourceOf({ name, version, file }: Wanted): Promise<BundlePlanRequest['source']> {
  if (file !== null) return { kind: 'piece_file', content: (await toDataUrl(file)).replace(/^[^,]*,/, '') };
  const known = version.trim() === '' ? {} : { version: version.trim() };
  return { kind: 'piece', package: packageOf(name), ...known };
}
