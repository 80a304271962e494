import { Alert, Tabs } from '@mantine/core';
import type { ExecuteResult } from '@quartermaster/contract';
import { useLanguage } from '../../language/language.tsx';
import { ArtifactList } from '../artifacts/artifact-list.tsx';
import { JsonBox } from '../schema/json-tree.tsx';
import { Snippet } from '../snippet.tsx';

/** Violations whose sentence does not repeat what was found. */
const sentenceKeys: Readonly<Record<string, 'try.violationMissing' | 'try.violationUnknown'>> = {
  nothing: 'try.violationMissing',
  'an unknown parameter': 'try.violationUnknown',
};

/** The output of a run with its pictures and files, and its schema violations. */
export function RunOutput({ result }: { result: ExecuteResult }) {
  const { t } = useLanguage();
  const violations = result.output_violations ?? [];
  return (
    <>
      {violations.length === 0 ? null : (
        <Alert color="orange" variant="light" mb="sm" title={t('try.violations', { count: violations.length })}>
          {violations.map(({ path, found, expected }) => (
            <div key={path + found + expected}>
              <code>{path}</code> {t(sentenceKeys[found] ?? 'try.violation', { found, expected })}
            </div>
          ))}
        </Alert>
      )}
      <ArtifactList artifacts={result.artifacts ?? []} />
      <Tabs defaultValue="tree" mt="md" keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="tree">{t('try.resultTree')}</Tabs.Tab>
          <Tabs.Tab value="json">{t('try.json')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="tree">
          <JsonBox value={result.data} label={t('try.resultTree')} testId="result-tree" />
        </Tabs.Panel>
        <Tabs.Panel value="json">
          <Snippet code={JSON.stringify(result.data, null, 2)} label={t('try.result')} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
