import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import type { BundlePlan } from '@quartermaster/contract';
import { useRef, useState } from 'react';
import { planBundle } from '../../api/integrations.ts';
import { useSubmit } from '../../components/forms/use-submit.ts';
import { Section } from '../../components/section.tsx';
import { kinds, requestOf, type Wanted } from './plan-source.ts';
import { SourceFields } from './source-fields.tsx';
import { useTexts } from './use-texts.ts';

export interface PlanFormProps {
  readonly initial: Wanted;
  readonly onPlan: (plan: BundlePlan) => void;
}

/** Asks for a package, an API, an MCP server or an archive. */
export function PlanForm({ initial, onPlan }: PlanFormProps) {
  const { t, own } = useTexts();
  const [wanted, setWanted] = useState(initial);
  const { kind, file, bundleId } = wanted;
  const change = (fields: Partial<Wanted>) => setWanted({ ...wanted, ...fields });
  const { failure, busy, submit } = useSubmit(async () => onPlan(await planBundle(await requestOf(wanted))));
  return (
    <Section id="find" title={own(`imports.${kind}`)} about={t('integrations.findAbout')}>
      <form onSubmit={submit}>
        <Stack gap="md" maw={640}>
          <NativeSelect
            label={own('imports.kind')}
            data={kinds.map((value) => ({ value, label: own(`imports.${value}`) }))}
            value={kind}
            onChange={(event) => change({ kind: event.currentTarget.value as Wanted['kind'], file: null })} // one of `kinds`
          />
          <SourceFields wanted={wanted} failure={failure} onChange={change} />
          {kind === 'archive' ? null : (
            <TextInput
              label={t('integrations.id')}
              placeholder={kind === 'piece' ? 'piece_slack' : 'my_api'}
              value={bundleId}
              onChange={(event) => change({ bundleId: event.currentTarget.value })}
            />
          )}
          <Group gap="xs">
            <Button type="submit" loading={busy}>
              {t('integrations.plan')}
            </Button>
            {kind === 'mcp' ? null : (
              <FileButton key={kind} kind={kind} file={file} onChange={(chosen) => change({ file: chosen })} />
            )}
          </Group>
          <Text size="sm" role="status">
            {busy ? (kind === 'piece' ? t('integrations.planning') : own('imports.planning')) : ''}
          </Text>
        </Stack>
      </form>
    </Section>
  );
}

interface FileButtonProps {
  readonly kind: Exclude<Wanted['kind'], 'mcp'>;
  readonly file: File | null;
  readonly onChange: (file: File | null) => void;
}

const extensions = { piece: '.tgz,.gz', openapi: '.json,.yaml,.yml', archive: '.qmb' } as const;

/** Chooses a file, or drops the chosen one. */
function FileButton({ kind, file, onChange }: FileButtonProps) {
  const { t, own } = useTexts();
  const input = useRef<HTMLInputElement>(null);
  const drop = kind === 'piece' ? t('integrations.noFile') : own('imports.noFile');
  return (
    <>
      <Button variant="default" onClick={() => (file === null ? input.current?.click() : onChange(null))}>
        {file === null ? t('integrations.chooseFile') : drop}
      </Button>
      <input
        ref={input}
        type="file"
        accept={extensions[kind]}
        hidden
        onChange={({ currentTarget }) => {
          onChange(currentTarget.files?.[0] ?? null);
          currentTarget.value = '';
        }}
      />
    </>
  );
}
