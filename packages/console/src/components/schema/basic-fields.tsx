import { Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useLanguage } from '../../language/language.tsx';
import { PasswordField } from '../forms/password-field.tsx';
import { type Choice, fromLocalTime, toLocalTime } from './field-values.ts';
import { boundsOf, type JsonSchema } from './json-schema.ts';
import classes from './schema-form.module.css';

export interface FieldProps {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly root: JsonSchema;
  readonly value: unknown;
  readonly isRequired: boolean;
  /** undefined: no value. */
  readonly onChange: (value: unknown) => void;
}

/** The title of a field beside the name that programs use. */
export function FieldName({ name, schema: { title } }: Pick<FieldProps, 'name' | 'schema'>) {
  if (title === undefined || title === '' || title === name) return name;
  return (
    <>
      {title} <code className={classes.name}>{name}</code>
    </>
  );
}

/** Label, description and marks of every field. */
export function useWords({ name, schema, isRequired }: FieldProps) {
  const { t } = useLanguage();
  const bounds = boundsOf(schema, t('schema.characters'));
  const description = [schema.description ?? '', bounds === '' ? '' : `(${bounds})`].filter(Boolean).join(' ');
  return { label: <FieldName name={name} schema={schema} />, description, required: isRequired };
}

function exampleOf({ schema }: FieldProps): string {
  const example = schema.default ?? schema.examples?.[0];
  return example === undefined ? '' : typeof example === 'string' ? example : JSON.stringify(example);
}

export function TextField(props: FieldProps) {
  const { schema, value, onChange } = props;
  const text = typeof value === 'string' ? value : '';
  const change = (next: string) => onChange(next === '' && !props.isRequired ? undefined : next);
  const common = { ...useWords(props), value: text, placeholder: exampleOf(props), spellCheck: false };
  if (schema['x-secret'] === true) {
    return <PasswordField {...common} autoComplete="off" onChange={(event) => change(event.currentTarget.value)} />;
  }
  if ((schema.maxLength ?? 0) > 300) {
    return <Textarea {...common} rows={3} autoComplete="off" onChange={(event) => change(event.currentTarget.value)} />;
  }
  return <TextInput {...common} autoComplete="off" onChange={(event) => change(event.currentTarget.value)} />;
}

export function NumberField(props: FieldProps) {
  const { value, onChange } = props;
  return (
    <TextInput
      {...useWords(props)}
      type="number"
      step="any"
      value={typeof value === 'number' ? String(value) : ''}
      placeholder={exampleOf(props)}
      onChange={(event) => {
        const text = event.currentTarget.value;
        onChange(text === '' ? undefined : Number(text));
      }}
    />
  );
}

/** A date, or a time in the time zone of the browser. A text that is neither, which a program may have entered, stays a text. */
export function DateField(props: FieldProps) {
  const { schema, value, onChange } = props;
  const words = useWords(props);
  const isTime = schema.format === 'date-time';
  const text = typeof value === 'string' ? value : '';
  const shown = isTime ? toLocalTime(text) : /^\d{4}-\d\d-\d\d$/.test(text) ? text : '';
  if (shown === '' && text !== '') return <TextField {...props} />;
  return (
    <TextInput
      {...words}
      type={isTime ? 'datetime-local' : 'date'}
      step={isTime ? 'any' : undefined}
      value={shown}
      onChange={({ currentTarget: { value: next } }) => onChange(isTime ? fromLocalTime(next) : next || undefined)}
    />
  );
}

type ChoicesProps = FieldProps & { readonly choices: readonly Choice[] };

export function ChoiceField({ choices, ...props }: ChoicesProps) {
  const { t } = useLanguage();
  const named = choices.map(({ value }) => JSON.stringify(value) ?? '');
  return (
    <NativeSelect
      {...useWords(props)}
      value={props.value === undefined ? '' : JSON.stringify(props.value)}
      onChange={(event) => {
        const at = named.indexOf(event.currentTarget.value);
        props.onChange(at < 0 ? undefined : choices[at]?.value);
      }}
      data={[
        { value: '', label: `– ${t('try.notSet')} –` },
        ...choices.map(({ label }, index) => ({ value: named[index] ?? '', label })),
      ]}
    />
  );
}

/** Several of the values of a list. */
export function ChoicesField({ choices, ...props }: ChoicesProps) {
  const chosen = Array.isArray(props.value) ? props.value.map((one) => JSON.stringify(one)) : [];
  const change = (named: readonly string[]) => {
    const values = choices.map(({ value }) => value).filter((value) => named.includes(JSON.stringify(value)));
    props.onChange(values.length === 0 && !props.isRequired ? undefined : values);
  };
  return (
    <Checkbox.Group {...useWords(props)} value={chosen} onChange={change}>
      <div className={classes.choices}>
        {choices.map(({ value, label }) => (
          <Checkbox key={JSON.stringify(value)} value={JSON.stringify(value)} label={label} />
        ))}
      </div>
    </Checkbox.Group>
  );
}
