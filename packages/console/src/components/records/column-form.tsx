import { NativeSelect, Table } from '@mantine/core';
import type { ProposedColumns, SheetColumns } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useLanguage } from '../../language/language.tsx';
import { SubmitForm } from '../forms/submit-form.tsx';
import { Section } from '../section.tsx';

export interface ColumnFormProps {
  readonly path: { readonly collection_id: string; readonly record_id: string };
  readonly proposal: ProposedColumns;
  /** The name of the sheet, where the page shows several. */
  readonly name?: string;
}

/** Chooses the columns of a sheet whose columns the service did not find, and imports it again. */
export function ColumnForm({ path, proposal, name }: ColumnFormProps) {
  const heading = useId();
  const { t } = useLanguage();
  const queries = useQueryClient();
  const proposed = { question: numberOf(proposal, 'question'), answer: numberOf(proposal, 'answer') };
  const [chosen, setChosen] = useState(proposed);
  const isProposed = chosen.question === proposed.question && chosen.answer === proposed.answer;
  const options = proposal.found.map((name, index) => ({
    value: String(index + 1),
    label: proposal.header_row === null || name === '' ? t('records.column', { number: index + 1 }) : name,
  }));
  const data = [{ value: '', label: t('records.columnNone') }, ...options];
  const submit = async () => {
    const body = { columns: toColumns(proposal, chosen) };
    await filesApi.json('POST /v1/collections/{collection_id}/records/{record_id}', { path, body });
    await queries.invalidateQueries({ queryKey: ['record', path] });
    await queries.invalidateQueries({ queryKey: ['records', path.collection_id] });
  };
  return (
    <Section
      id={heading}
      title={name === undefined ? t('records.columns') : t('records.columnsOf', { name })}
      about={t('records.columnsAbout')}
    >
      <SubmitForm
        action={t('records.columnsUse')}
        isReady={chosen.question !== 0 && chosen.answer !== 0 && chosen.question !== chosen.answer}
        onSubmit={submit}
      >
        {(failure) => (
          <>
            <NativeSelect
              label={t('records.columnQuestion')}
              data={data}
              value={chosen.question === 0 ? '' : String(chosen.question)}
              onChange={(event) => setChosen({ ...chosen, question: Number(event.currentTarget.value) })}
            />
            <NativeSelect
              label={t('records.columnAnswer')}
              data={data}
              value={chosen.answer === 0 ? '' : String(chosen.answer)}
              onChange={(event) => setChosen({ ...chosen, answer: Number(event.currentTarget.value) })}
              error={failure}
            />
            {isProposed && proposal.samples.length > 0 ? <Samples samples={proposal.samples} /> : null}
          </>
        )}
      </SubmitForm>
    </Section>
  );
}

/** The first pairs that the proposed columns give. */
function Samples({ samples }: { samples: ProposedColumns['samples'] }) {
  const { t } = useLanguage();
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('records.columnQuestion')}</Table.Th>
          <Table.Th>{t('records.columnAnswer')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {samples.map(({ row, question, answer }) => (
          <Table.Tr key={row}>
            <Table.Td>{question}</Table.Td>
            <Table.Td>{answer}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

interface Chosen {
  readonly question: number;
  readonly answer: number;
}

/** The number of the proposed column, from 1; 0 for none. */
function numberOf({ found, columns }: ProposedColumns, role: keyof Chosen): number {
  const column = columns?.[role];
  if (typeof column === 'string') return found.indexOf(column) + 1;
  return column ?? 0;
}

/** Names also find the columns in the other sheets of the file. Blank and repeated names are sent as numbers. */
function toColumns({ found, header_row: headerRow }: ProposedColumns, { question, answer }: Chosen): SheetColumns {
  if (headerRow === null) return { question, answer };
  const names = [found[question - 1] ?? '', found[answer - 1] ?? ''] as const;
  const areUnique = names.every((name) => name !== '' && found.indexOf(name) === found.lastIndexOf(name));
  if (areUnique) return { question: names[0], answer: names[1] };
  return { question, answer, header_row: headerRow };
}
