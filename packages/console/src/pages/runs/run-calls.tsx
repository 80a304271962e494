import { Table, Text } from '@mantine/core';
import type { Run } from '@quartermaster/contract';
import { formatBytes, formatMs } from '../../components/format.ts';
import { Section } from '../../components/section.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './runs.module.css';

/** The outbound calls of a run. */
export function RunCalls({ run }: { run: Run }) {
  const { t } = useLanguage();
  return (
    <Section id="calls" title={t('run.calls')}>
      {run.egress.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('run.noCalls')}
        </Text>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        <section className={classes.calls} tabIndex={0} aria-label={t('run.calls')}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('run.host')}</Table.Th>
                <Table.Th>{t('run.method')}</Table.Th>
                <Table.Th>{t('run.status')}</Table.Th>
                <Table.Th>{t('run.bytes')}</Table.Th>
                <Table.Th>{t('run.time')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {run.egress.map((call, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: calls have no key except their position.
                <Table.Tr key={index}>
                  <Table.Td>{call.host}</Table.Td>
                  <Table.Td>{call.method}</Table.Td>
                  <Table.Td>
                    {call.status ?? ''} {t(`call.${call.result}`)}
                  </Table.Td>
                  <Table.Td>{formatBytes(call.bytes)}</Table.Td>
                  <Table.Td>{formatMs(call.ms)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
          {run.egress_left_out > 0 ? t('run.leftOut', { count: run.egress_left_out }) : null}
        </section>
      )}
    </Section>
  );
}
