import { Alert, Button, Group, NativeSelect, Paper, Stack, Text, Title } from '@mantine/core';
import type { ConsentRequest, OauthScope } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { isMissing } from '../../api/addresses.ts';
import { consentApi } from '../../api/consent.ts';
import { useMay, useProjectChoice } from '../../app/project.tsx';
import { Empty } from '../../components/empty.tsx';
import { Failure } from '../../components/failure.tsx';
import { Icon } from '../../components/icons.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { useLanguage } from '../../language/language.tsx';
import { CollectionChoice } from '../settings/collection-choice.tsx';
import { ToolChoice } from '../settings/tool-choice.tsx';
import { areas, type Choice, decisionOf, firstChoice, forms, isOfOneCollection } from './consent-choice.ts';

/** The page on which a person decides what an application may do. */
export function Consent() {
  const { t } = useLanguage();
  const { requestId = '' } = useParams({ strict: false });
  const { projectId } = useProjectChoice();
  const request = useQuery({
    queryKey: ['consent', requestId],
    queryFn: ({ signal }) =>
      consentApi.data('GET /oauth/requests/{request_id}/details', { path: { request_id: requestId }, signal }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <>
      <PageHead title={t('consent.title')} about={t('consent.about')} />
      {request.isPending ? <Loading /> : null}
      {isMissing(request.error) ? (
        <Empty icon="search" title={t('consent.ended')}>
          {t('consent.endedAbout')}
        </Empty>
      ) : null}
      {request.error === null || isMissing(request.error) ? null : (
        <Failure error={request.error} onRetry={() => void request.refetch()} />
      )}
      {request.data === undefined ? null : <Decision key={projectId} request={request.data} requestId={requestId} />}
    </>
  );
}

/** A click that was meant for another page must not decide. */
const unlockMs = 500;

function Decision({ request, requestId }: { request: ConsentRequest; requestId: string }) {
  const { t } = useLanguage();
  const { projectId } = useProjectChoice();
  const [choice, setChoice] = useState<Choice>(() => firstChoice(request));
  const [isUnlocked, setUnlocked] = useState(false);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    const timer = setTimeout(() => setUnlocked(true), unlockMs);
    return () => clearTimeout(timer);
  }, []);
  const decision = decisionOf(choice, projectId);
  const decide = async (body: NonNullable<typeof decision> | { decision: 'deny' }) => {
    setBusy(true);
    setFailure(null);
    try {
      const path = { request_id: requestId };
      const { continue_url } = await consentApi.data('POST /oauth/requests/{request_id}/decision', { path, body });
      window.location.assign(continue_url);
    } catch (error) {
      setFailure(error);
      setBusy(false);
    }
  };
  return (
    <Paper withBorder p="xl" radius="lg" maw={640}>
      <Stack gap="lg">
        <Applicant request={request} />
        <Permissions choice={choice} onChange={setChoice} request={request} />
        {failure === null ? null : <Failure error={failure} />}
        {decision === null ? <Text c="red">{t('consent.nothing')}</Text> : null}
        <Group justify="flex-end">
          <Button variant="default" disabled={!isUnlocked || busy} onClick={() => void decide({ decision: 'deny' })}>
            {t('consent.refuse')}
          </Button>
          <Button
            loading={busy}
            disabled={!isUnlocked || decision === null}
            onClick={() => {
              if (decision !== null) void decide(decision);
            }}
          >
            {t('consent.allow')}
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}

/** Who asks. Only the host of a document is proven; everything else is what the application says, and has quotes. */
function Applicant({ request }: { request: ConsentRequest }) {
  const { t } = useLanguage();
  const { session, projects, projectId, choose } = useProjectChoice();
  const { host, name, redirect_to, redirect_kind, resource } = request;
  return (
    <div>
      <Title order={2} style={{ overflowWrap: 'anywhere' }}>
        {host ?? (name === null ? t('consent.nameless') : `“${name}”`)}
      </Title>
      {host === null || name === null ? null : <Text c="dimmed">{t('applications.itself', { name })}</Text>}
      {host === null ? (
        <Alert color="orange" variant="light" icon={<Icon name="warning" />} mt="sm">
          {t('consent.unverified')}
        </Alert>
      ) : null}
      <Text size="sm" mt="sm">
        {t(`consent.returns.${redirect_kind}`, { to: redirect_to })}
      </Text>
      <Text size="sm">{t('consent.account', { name: session.name })}</Text>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {t('consent.server', { url: resource })}
      </Text>
      <Text size="sm">{t('consent.lifetime')}</Text>
      <NativeSelect
        mt="sm"
        label={t('consent.project')}
        value={projectId}
        onChange={({ currentTarget: { value } }) => choose(value)}
        data={projects.map(({ project_id: value, name: label }) => ({ value, label }))}
      />
    </div>
  );
}

interface PermissionsProps {
  readonly request: ConsentRequest;
  readonly choice: Choice;
  readonly onChange: (choice: Choice) => void;
}

/** What it may do. Nothing can be added to what the application asks for. */
function Permissions({ request, choice, onChange }: PermissionsProps) {
  const { t } = useLanguage();
  const mayChange = useMay('change');
  const has = (area: string) => choice.scopes.some((scope) => scope.startsWith(area));
  return (
    <Stack gap="md">
      {areas(request).map((area) => (
        <Stack key={area} gap="xs">
          <NativeSelect
            label={t(`consent.scopes.${area}`)}
            description={
              request.scopes.includes(area)
                ? `${t('consent.asked', { what: t(`consent.scope.${area}`) })} ${mayChange ? '' : t('consent.viewer')}`
                : null
            }
            value={choice.scopes.find((scope) => scope.startsWith(area)) ?? 'none'}
            onChange={({ currentTarget: { value } }) => {
              const others = choice.scopes.filter((scope) => !scope.startsWith(area));
              onChange({ ...choice, scopes: value === 'none' ? others : [...others, value as OauthScope] }); // one of `forms`
            }}
            data={[...forms(request, area, mayChange), 'none' as const].map((value) => ({
              value,
              label: t(`consent.scope.${value}`),
            }))}
          />
          {area === 'collections' && has(area) && !isOfOneCollection(request) ? (
            <CollectionLimit choice={choice} onChange={onChange} />
          ) : null}
          {area === 'plugins' && has(area) ? <PluginChoice choice={choice} onChange={onChange} /> : null}
        </Stack>
      ))}
    </Stack>
  );
}

function PluginChoice({ choice, onChange }: Pick<PermissionsProps, 'choice' | 'onChange'>) {
  const { t } = useLanguage();
  return (
    <>
      <NativeSelect
        aria-label={t('settings.toolLimit')}
        value={choice.tools === null ? 'all' : 'some'}
        onChange={({ currentTarget: { value } }) => onChange({ ...choice, tools: value === 'all' ? null : [] })}
        data={[
          { value: 'all', label: t('settings.toolsAll') },
          { value: 'some', label: t('settings.toolsSome') },
        ]}
      />
      {choice.tools === null ? null : (
        <ToolChoice
          chosen={choice.tools}
          onChange={(tools) => onChange({ ...choice, tools })}
          isMissing={choice.tools.length === 0}
        />
      )}
    </>
  );
}

function CollectionLimit({ choice, onChange }: Pick<PermissionsProps, 'choice' | 'onChange'>) {
  const { t } = useLanguage();
  const { collections } = choice;
  return (
    <>
      <NativeSelect
        aria-label={t('consent.collections')}
        value={collections === null ? 'all' : 'some'}
        onChange={({ currentTarget: { value } }) =>
          onChange({ ...choice, collections: value === 'all' ? null : new Map() })
        }
        data={[
          { value: 'all', label: t('consent.collectionsAll') },
          { value: 'some', label: t('settings.collectionsSome') },
        ]}
      />
      {collections === null ? null : (
        <CollectionChoice
          chosen={collections}
          onChange={(chosen) => onChange({ ...choice, collections: chosen })}
          isMissing={collections.size === 0}
        />
      )}
    </>
  );
}
