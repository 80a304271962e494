import { Empty } from '../../components/empty.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { ParentLink } from '../../components/parent-link.tsx';
import { useLanguage } from '../../language/language.tsx';

/** Stands for a document that does not exist, for example behind a link from before its deletion. */
export function RecordGone({ collectionId }: { collectionId: string }) {
  const { t } = useLanguage();
  return (
    <>
      <PageHead
        title={t('source.recordGone')}
        parent={
          <ParentLink to="/collections/$collectionId" params={{ collectionId }}>
            {t('collections.tab.records')}
          </ParentLink>
        }
      />
      <Empty icon="search" title={t('source.recordGone')}>
        {t('source.recordGoneAbout')}
      </Empty>
    </>
  );
}
