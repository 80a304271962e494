import { NativeSelect, Table } from '@mantine/core';
import type { ProposedColumns, SheetColumns } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { type Translate, useLanguage } from '../../language/language.tsx';
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
  const [chosen, setChosen] = useState(chosenIn(proposal));
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
      <SubmitForm action={t('records.columnsUse')} isReady={isComplete(chosen)} onSubmit={submit}>
        {(failure) => <ColumnFields proposal={proposal} chosen={chosen} onChoose={setChosen} failure={failure} />}
      </SubmitForm>
    </Section>
  );
}

/** A sheet, and the columns that were taken or that are proposed. */
export type SheetChoice = Pick<ProposedColumns, 'found' | 'header_row' | 'columns'> &
  Partial<Pick<ProposedColumns, 'samples'>>;

export interface ColumnFieldsProps {
  readonly proposal: SheetChoice;
  readonly chosen: Chosen;
  readonly onChoose: (chosen: Chosen) => void;
  /** Default: “Answer”. */
  readonly answerLabel?: string;
  readonly failure?: string | null;
}

/** Two lists of the columns of a sheet, and the first pairs that the proposed ones give. */
export function ColumnFields({ proposal, chosen, onChoose, answerLabel, failure = null }: ColumnFieldsProps) {
  const { t } = useLanguage();
  const answer = answerLabel ?? t('records.columnAnswer');
  const { samples = [] } = proposal;
  const options = proposal.found.map((_, index) => ({
    value: String(index + 1),
    label: nameOfColumn(proposal, index + 1, t),
  }));
  const data = [{ value: '', label: t('records.columnNone') }, ...options];
  const field = (role: keyof Chosen, label: string, error: string | null) => (
    <NativeSelect
      label={label}
      data={data}
      value={chosen[role] === 0 ? '' : String(chosen[role])}
      onChange={(event) => onChoose({ ...chosen, [role]: Number(event.currentTarget.value) })}
      error={error}
    />
  );
  const proposed = chosenIn(proposal);
  const isProposed = chosen.question === proposed.question && chosen.answer === proposed.answer;
  return (
    <>
      {field('question', t('records.columnQuestion'), null)}
      {field('answer', answer, failure)}
      {isProposed && samples.length > 0 ? <Samples samples={samples} answer={answer} /> : null}
    </>
  );
}

/** The name of a column, or its number where the sheet has no names. */
export function nameOfColumn({ found, header_row: headerRow }: SheetChoice, number: number, t: Translate): string {
  const name = found[number - 1] ?? '';
  return headerRow === null || name === '' ? t('records.column', { number }) : name;
}

/** The first pairs that the proposed columns give. */
function Samples({ samples, answer: label }: { samples: ProposedColumns['samples']; answer: string }) {
  const { t } = useLanguage();
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('records.columnQuestion')}</Table.Th>
          <Table.Th>{label}</Table.Th>
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

/** The numbers of the columns, from 1; 0 for none. */
export interface Chosen {
  readonly question: number;
  readonly answer: number;
}

export const chosenIn = (proposal: SheetChoice): Chosen => ({
  question: numberOf(proposal, 'question'),
  answer: numberOf(proposal, 'answer'),
});

export const isComplete = ({ question, answer }: Chosen) => question !== 0 && answer !== 0 && question !== answer;

function numberOf({ found, columns }: SheetChoice, role: keyof Chosen): number {
  const column = columns?.[role];
  if (typeof column === 'string') return found.indexOf(column) + 1;
  return column ?? 0;
}

/** Names also find the columns in the other sheets of the file. Blank and repeated names are sent as numbers. */
export function toColumns({ found, header_row: headerRow }: SheetChoice, { question, answer }: Chosen): SheetColumns {
  if (headerRow === null) return { question, answer };
  const names = [found[question - 1] ?? '', found[answer - 1] ?? ''] as const;
  const areUnique = names.every((name) => name !== '' && found.indexOf(name) === found.lastIndexOf(name));
  if (areUnique) return { question: names[0], answer: names[1] };
  return { question, answer, header_row: headerRow };
}
