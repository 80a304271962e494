import { Alert, Badge, Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import type { BundlePlan, InstalledBundle, PackageUpdate } from '@quartermaster/contract';
import { useState } from 'react';
import { installBundle, useRefreshBundles } from '../../api/integrations.ts';
import { FactCards } from '../../components/fact-cards.tsx';
import { formatBytes } from '../../components/format.ts';
import { useSubmit } from '../../components/forms/use-submit.ts';
import { Icon } from '../../components/icons.tsx';
import { Section } from '../../components/section.tsx';
import { effectsColors } from '../../components/tones.ts';
import { useLanguage } from '../../language/language.tsx';
import classes from './integrations.module.css';
import { changesOf, placeText, type Reach, reachOf } from './places.ts';
import { ReachEditor } from './reach-editor.tsx';
import { useTexts } from './use-texts.ts';

export interface PlanViewProps {
  readonly plan: BundlePlan;
  /** null: the administrator discards the plan. */
  readonly onDone: (installed: InstalledBundle | null) => void;
}

/** What would be installed. The administrator decides about hosts and places, and confirms. */
export function PlanView({ plan, onDone }: PlanViewProps) {
  const { t, riskOf } = useTexts();
  const refresh = useRefreshBundles();
  const [isAccepted, setAccepted] = useState(false);
  const [reach, setReach] = useState(reachOf(plan));
  const action = t(plan.update === null ? 'integrations.install' : 'integrations.update');
  const { failure, busy, submit } = useSubmit(async () => {
    const installed = await installBundle(plan.bundle_plan_id, {
      digest: plan.digest,
      ...changesOf(plan, reach),
      ...(isAccepted ? { accept_publisher: true } : {}),
    });
    await refresh(installed.bundle_id, installed.version);
    onDone(installed);
  });
  return (
    <Section id="plan" title={`${action}: ${plan.bundle_id}`}>
      <form onSubmit={submit}>
        <Stack gap="lg">
          <FactCards facts={useFacts(plan)} />
          {plan.update === null ? null : <UpdateView update={plan.update} />}
          {plan.warnings.map((text) => (
            <Alert key={text} color="orange" variant="light" icon={<Icon name="warning" />}>
              {text}
            </Alert>
          ))}
          <Actions actions={plan.actions} />
          <Hosts plan={plan} reach={reach} onChange={setReach} />
          <Alert color="gray" variant="light" {...(hasCode(plan) ? { title: t('integrations.risk') } : {})}>
            {riskOf(plan)}
          </Alert>
          <Publisher plan={plan} isAccepted={isAccepted} onAccept={setAccepted} />
          {failure === null ? null : (
            <Alert color="red" variant="light" role="alert">
              {failure}
            </Alert>
          )}
          <Group gap="xs">
            <Button type="submit" loading={busy}>
              {action}
            </Button>
            <Button variant="default" disabled={busy} onClick={() => onDone(null)}>
              {t('action.cancel')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

interface HostsProps {
  readonly plan: BundlePlan;
  readonly reach: Reach;
  readonly onChange: (reach: Reach) => void;
}

/** Only the hosts and places of a piece can be edited: the files of other bundles define theirs. */
function Hosts({ plan, reach, onChange }: HostsProps) {
  const { t } = useLanguage();
  return (
    <div>
      <Part>{t('plugin.hosts')}</Part>
      {plan.kind === 'piece' ? (
        <ReachEditor reach={reach} hasSecrets={plan.credentials.some(({ secret }) => secret)} onChange={onChange} />
      ) : (
        <Text size="sm">{plan.hosts.join(', ') || t('plugin.noHosts')}</Text>
      )}
    </div>
  );
}

interface PublisherProps {
  readonly plan: BundlePlan;
  readonly isAccepted: boolean;
  readonly onAccept: (isAccepted: boolean) => void;
}

/** An archive whose publisher is not trusted is installed only after the administrator has accepted it. */
function Publisher({ plan: { trust }, isAccepted, onAccept }: PublisherProps) {
  const { own } = useTexts();
  if (trust === null || trust === 'trusted') return null;
  return (
    <Alert color="orange" variant="light" icon={<Icon name="warning" />}>
      {own(`imports.${trust}`)}
      <Checkbox
        mt="xs"
        required
        label={own('imports.accept')}
        checked={isAccepted}
        onChange={(event) => onAccept(event.currentTarget.checked)}
      />
    </Alert>
  );
}

function Part({ children }: { children: string }) {
  return (
    <Text size="sm" fw={600} mb="xs">
      {children}
    </Text>
  );
}

const factLabels = {
  licence: 'integrations.licence',
  credentials: 'nav.credentials',
  integrity: 'integrations.integrity',
  packedFrom: 'integrations.packedFrom',
} as const;

function useFacts(plan: BundlePlan) {
  const { t, own, licenceOf } = useTexts();
  const secrets = plan.credentials.map(({ name, secret }) => (secret ? `${name} (${t('integrations.secret')})` : name));
  const facts = {
    licence: licenceOf(plan),
    credentials: secrets.join(', ') || t('plugin.noHosts'),
    integrity: plan.integrity,
    ...(plan.packed_from === null ? {} : { packedFrom: plan.packed_from }),
  };
  const size = { name: 'size', text: formatBytes(plan.bytes) };
  const publisher = plan.publisher ?? own('imports.unsigned');
  return [
    { name: 'package', text: `${plan.package} ${plan.version}`, label: own(`imports.${plan.kind}`) },
    { ...size, label: plan.kind === 'piece' ? t('integrations.size') : own('imports.files') },
    ...(plan.trust === null ? [] : [{ name: 'publisher', text: publisher, label: own('imports.publisher') }]),
    ...Object.entries(facts).map(([name, text]) => ({
      name,
      text,
      label: t(factLabels[name as keyof typeof facts]), // its own keys
    })),
  ];
}

function Actions({ actions }: Pick<BundlePlan, 'actions'>) {
  const { t } = useLanguage();
  return (
    <div>
      <Part>{t('integrations.actions', { count: actions.length })}</Part>
      <ul className={classes.actions}>
        {actions.map(({ plugin_id, name, effects }) => (
          <li key={plugin_id}>
            <Badge size="sm" color={effectsColors[effects]}>
              {t(`effects.${effects}`)}
            </Badge>{' '}
            {name} <code>{plugin_id}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The differences to the installed version. */
function UpdateView({ update }: { update: PackageUpdate }) {
  const { t } = useLanguage();
  const parts = [
    ['integrations.added', linesOf(update.added)],
    ['integrations.dropped', linesOf(update.removed)],
  ] as const;
  return (
    <div>
      <Part>{t('integrations.since', { version: update.from_version })}</Part>
      {parts.map(([label, lines]) =>
        lines.length === 0 ? null : (
          <div key={label}>
            <Text size="sm">{t(label)}</Text>
            <ul className={classes.actions}>
              {lines.map(([kind, text]) => (
                <li key={`${kind} ${text}`}>
                  {t(kind)}: <code>{text}</code>
                </li>
              ))}
            </ul>
          </div>
        ),
      )}
    </div>
  );
}

function linesOf({ actions, credentials, hosts, credential_hosts, places }: PackageUpdate['added']) {
  return [
    ...actions.map(({ plugin_id, effects }) => ['integrations.action', `${plugin_id} (${effects})`] as const),
    ...credentials.map(({ name }) => ['nav.credentials', name] as const),
    ...hosts.map((host) => ['run.host', host] as const),
    ...credential_hosts.map((host) => ['integrations.trusted', host] as const),
    ...places.map((place) => ['integrations.places', placeText(place)] as const),
  ];
}

/** Documents and MCP servers become bundles without code. */
function hasCode({ kind }: BundlePlan): boolean {
  return kind === 'piece' || kind === 'archive';
}
