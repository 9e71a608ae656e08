"""PaperQA reads its summaries in document order: give it this function.

Tried with paper-qa 2026.8.12. Put this file beside your program, and these lines into
it, above `docs.aquery(question, settings=settings)`:

    from in_document_order import in_document_order

    settings.custom_context_serializer = in_document_order(docs)

It needs `pip install oprag`.
"""

from oprag import order_context


def in_document_order(docs):
    async def serialized(settings, contexts, question, pre_str):
        answer = settings.answer
        best = sorted(contexts, key=lambda found: -found.score)
        best = [
            found
            for found in best[: answer.answer_max_sources]
            if found.score >= answer.evidence_relevance_score_cutoff
        ]
        numbers = [docs.texts.index(found.text) for found in best]
        passages = order_context(
            [found.text.text for found in best],
            [
                {"source": str(found.text.doc.dockey), "chunk_index": number}
                for found, number in zip(best, numbers, strict=True)
            ],
        )
        order = [numbers[passage.rank] for passage in passages]
        falling = [
            found.model_copy(update={"score": 100 - order.index(number)})
            for found, number in zip(best, numbers, strict=True)
        ]
        plain = settings.model_copy(update={"custom_context_serializer": None})
        return await plain.context_serializer(falling, question, pre_str)

    return serialized
