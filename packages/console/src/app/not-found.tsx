import { Empty } from '../components/empty.tsx';
import { PageHead } from '../components/page-head.tsx';
import { useLanguage } from '../language/language.tsx';

export function NotFound() {
  const { t } = useLanguage();
  return (
    <>
      <PageHead title={t('notFound.title')} />
      <Empty icon="search" title={t('notFound.title')}>
        {t('notFound.about')}
      </Empty>
    </>
  );
}
