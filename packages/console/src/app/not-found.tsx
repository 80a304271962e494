import { useLanguage } from '../language/language.tsx';
import { Empty } from '../pieces/empty.tsx';
import { PageHead } from '../pieces/page-head.tsx';

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
