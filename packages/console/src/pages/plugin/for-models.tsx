import { Badge, Group, Text, Title } from '@mantine/core';
import { asDefinitions } from '@quartermaster/client/api';
import type { DefinitionFormat, Plugin, PluginDefinition } from '@quartermaster/contract';
import { useQueries } from '@tanstack/react-query';
import { pluginsApi } from '../../api/addresses.ts';
import { Failure } from '../../components/failure.tsx';
import { Loading } from '../../components/loading.tsx';
import { Snippet } from '../../components/snippet.tsx';
import { tones } from '../../components/tones.ts';
import { useLanguage } from '../../language/language.tsx';
import classes from './plugin.module.css';

const formats = {
  openai: 'OpenAI',
  'openai-strict': 'OpenAI, strict',
  'openai-responses': 'OpenAI, Responses',
  anthropic: 'Anthropic',
  gemini: 'Gemini',
  mcp: 'MCP',
} as const satisfies Partial<Record<DefinitionFormat, string>>;
const names = Object.keys(formats) as Array<keyof typeof formats>; // the keys of the object above

/** The tool definition for each model provider, and what the format cannot express. */
export function ForModels({ plugin }: { plugin: Plugin }) {
  const { bundle_id, plugin_id } = plugin;
  const definitions = useQueries({
    queries: names.map((format) => ({
      queryKey: ['definitions', format, bundle_id],
      queryFn: async () => asDefinitions(await pluginsApi.data('GET /v1/plugins', { query: { bundle_id, format } })),
    })),
  });
  return names.map((format, index) => {
    const query = definitions[index];
    const definition = query?.data?.find((item) => item.plugin_id === plugin_id);
    return (
      <section key={format} className={classes.definition} aria-label={formats[format]}>
        {query?.error == null ? null : <Failure error={query.error} />}
        {definition === undefined ? <Loading rows={1} /> : <Definition format={format} definition={definition} />}
      </section>
    );
  });
}

function Definition({ format, definition }: { format: keyof typeof formats; definition: PluginDefinition }) {
  const { t } = useLanguage();
  const { losses } = definition;
  return (
    <>
      <Group gap="xs" mb="xs">
        <Title order={2} size="h5">
          {formats[format]}
        </Title>
        <Badge size="sm" color={losses.length === 0 ? tones.good : tones.caution}>
          {losses.length === 0 ? t('plugin.fits') : t('plugin.losses', { count: losses.length })}
        </Badge>
      </Group>
      {losses.map((loss) => (
        <Text key={`${loss.path} ${loss.message}`} size="xs" c="dimmed">
          <code>{loss.path}</code> {loss.message}
        </Text>
      ))}
      <Snippet code={JSON.stringify(definition.definition, null, 2)} label={formats[format]} />
    </>
  );
}
