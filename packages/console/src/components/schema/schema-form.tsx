import { Button, NativeSelect, Textarea } from '@mantine/core';
import { useContext, useId, useState } from 'react';
import { useLanguage } from '../../language/language.tsx';
import {
  ChoiceField,
  ChoicesField,
  DateField,
  FieldName,
  type FieldProps,
  NumberField,
  TextField,
  useWords,
} from './basic-fields.tsx';
import { choicesOf, isFile, orderFields } from './field-values.ts';
import { FileField } from './file-field.tsx';
import { type JsonSchema, kindsOf, resolve, variantsOf } from './json-schema.ts';
import { OptionField, OptionsContext } from './option-field.tsx';
import classes from './schema-form.module.css';

export type Values = Readonly<Record<string, unknown>>;

/** Form fields for an object, generated from its schema. The service validates the input. */
export function SchemaForm(props: Omit<FieldProps, 'name' | 'isRequired'>) {
  const { t } = useLanguage();
  const { schema, root, value, onChange } = props;
  const members = (typeof value === 'object' && value !== null ? value : {}) as Values; // an object, checked
  const change = (name: string, part: unknown) => {
    const { [name]: _, ...others } = members;
    onChange(part === undefined ? others : { ...others, [name]: part });
  };
  const { first, more } = orderFields(schema);
  const fieldOf = (name: string) => (
    <Field
      key={name}
      name={name}
      schema={resolve(schema.properties?.[name] ?? {}, root)}
      root={root}
      value={members[name]}
      isRequired={schema.required?.includes(name) === true}
      onChange={(part) => change(name, part)}
    />
  );
  return (
    <div className={classes.fields}>
      {first.map(fieldOf)}
      {more.length === 0 ? null : (
        <details className={classes.more}>
          <summary>{t('try.more', { count: more.length })}</summary>
          <div className={classes.fields}>{more.map(fieldOf)}</div>
        </details>
      )}
    </div>
  );
}

const truthValues = [
  { value: true, word: 'try.yes' },
  { value: false, word: 'try.no' },
] as const;

function Field(props: FieldProps) {
  const { name, schema } = props;
  const source = useContext(OptionsContext);
  const choice = source?.choices[name];
  // Only the inputs themselves have choices, not members of the same name in them.
  if (source === null || choice === undefined || source.schema.properties?.[name] !== schema) {
    return <PlainField {...props} />;
  }
  const render = (known: JsonSchema) => <PlainField {...props} schema={known} root={known} />;
  return <OptionField {...props} source={source} choice={choice} render={render} />;
}

function PlainField(props: FieldProps) {
  const { t } = useLanguage();
  const { schema } = props;
  const [kind] = kindsOf(schema);
  const choices = choicesOf(schema, props.root);
  if (choices !== undefined) return <ChoiceField {...props} choices={choices} />;
  if (variantsOf(schema).length > 0) return <VariantField {...props} />;
  if (kind === 'boolean')
    return <ChoiceField {...props} choices={truthValues.map(({ value, word }) => ({ value, label: t(word) }))} />;
  if (kind === 'number' || kind === 'integer') return <NumberField {...props} />;
  if (isFile(schema)) return <FileField {...props} />;
  if (schema.format === 'date' || schema.format === 'date-time') return <DateField {...props} />;
  if (kind === 'string') return <TextField {...props} />;
  if (kind === 'array' && typeof schema.items === 'object') return <ItemsField {...props} items={schema.items} />;
  if (kind === 'object' && schema.properties !== undefined) return <GroupField {...props} />;
  return <JsonField {...props} />;
}

function GroupField(props: FieldProps) {
  // The members of an optional object are required once it has one of them.
  const isUsed = props.isRequired || Object.keys(Object(props.value)).length > 0;
  const { required: _, ...unused } = props.schema;
  const schema = isUsed ? props.schema : unused;
  return (
    <fieldset className={classes.group}>
      <legend>
        <FieldName {...props} />
      </legend>
      <SchemaForm schema={schema} root={props.root} value={props.value} onChange={props.onChange} />
    </fieldset>
  );
}

function VariantField(props: FieldProps) {
  const { t } = useLanguage();
  const [at, setAt] = useState(0);
  const variants = variantsOf(props.schema).map((variant) => resolve(variant, props.root));
  const variant = variants[at] ?? {};
  const named = (one: JsonSchema, index: number) => one.title ?? (kindsOf(one).join(' | ') || String(index + 1));
  return (
    <fieldset className={classes.group}>
      <legend>
        <FieldName {...props} />
      </legend>
      <div className={classes.fields}>
        <NativeSelect
          label={t('try.variant')}
          description={props.schema.description}
          value={String(at)}
          onChange={(event) => {
            setAt(Number(event.currentTarget.value));
            props.onChange(undefined);
          }}
          data={variants.map((one, index) => ({ value: String(index), label: named(one, index) }))}
        />
        <Field {...props} schema={variant} />
      </div>
    </fieldset>
  );
}

/** The maximum number of values that a list offers as boxes to tick. */
const maxBoxes = 40;

function ItemsField(props: FieldProps & { readonly items: JsonSchema }) {
  const choices = choicesOf(resolve(props.items, props.root), props.root);
  if (choices === undefined || choices.length > maxBoxes) return <ListField {...props} />;
  return <ChoicesField {...props} choices={choices} />;
}

function ListField({ items, ...props }: FieldProps & { readonly items: JsonSchema }) {
  const { t } = useLanguage();
  const values: readonly unknown[] = Array.isArray(props.value) ? props.value : [];
  const schema = resolve(items, props.root);
  const set = (next: readonly unknown[]) => props.onChange(next.length === 0 && !props.isRequired ? undefined : next);
  return (
    <fieldset className={classes.group}>
      <legend>
        <FieldName {...props} />
      </legend>
      <div className={classes.fields}>
        {props.schema.description}
        {values.map((value, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have no key except their position.
          <div key={index} className={classes.item}>
            <Field
              name={`${props.name} ${index + 1}`}
              schema={schema}
              root={props.root}
              value={value}
              isRequired
              onChange={(next) => set(values.with(index, next ?? null))}
            />
            <Button variant="default" onClick={() => set(values.toSpliced(index, 1))}>
              {t('try.removeItem')}
            </Button>
          </div>
        ))}
        <Button variant="default" size="xs" onClick={() => set([...values, emptyFor(schema)])}>
          {t('try.addItem')}
        </Button>
      </div>
    </fieldset>
  );
}

function emptyFor(schema: JsonSchema): unknown {
  const [kind] = kindsOf(schema);
  if (kind === 'object') return {};
  if (kind === 'array') return [];
  return schema.enum?.[0] ?? (kind === 'string' ? '' : null);
}

/** Values without a field of their own are edited as JSON. */
function JsonField(props: FieldProps) {
  const { t } = useLanguage();
  const id = useId();
  const [text, setText] = useState(props.value === undefined ? '' : JSON.stringify(props.value, null, 2));
  const [failure, setFailure] = useState<string | null>(null);
  const change = (next: string) => {
    setText(next);
    try {
      props.onChange(next.trim() === '' ? undefined : JSON.parse(next));
      setFailure(null);
    } catch (error) {
      setFailure(t('try.badJson', { reason: (error as Error).message }));
    }
  };
  return (
    <Textarea
      {...useWords(props)}
      id={id}
      placeholder="{ }"
      rows={3}
      value={text}
      error={failure}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
