-- What is read through the tables, made anew after each migration.

-- A request with its spans (docs/glossary.md), µs; null where a span has no begin or no end.
CREATE OR REPLACE VIEW request_spans AS
SELECT
    * REPLACE (coalesce(traffic_class, 'default') AS traffic_class,
        coalesce(target, 'main') AS target),  -- runs of before there were several
    coalesce(due_us, send_us, dispatched_us) AS asked_us,
    first_token_us - send_us AS ttft_us,
    first_visible_us - send_us AS ttft_visible_us,
    first_token_us - due_us AS ttft_sched_us,
    coalesce(last_token_us, whole_us) - send_us AS e2e_us,
    coalesce(last_token_us, whole_us) - due_us AS e2e_sched_us,
    CASE WHEN coalesce(n_choices, 1) <= 1
            AND output_tokens - coalesce(first_chunk_tokens, 1) >= 1 THEN
        (last_token_us - first_token_us)::DOUBLE / (output_tokens - coalesce(first_chunk_tokens, 1))
    END AS tpot_us,
    send_us - due_us AS send_lag_us,
    dispatched_us - due_us AS dispatch_us,
    send_us - dispatched_us AS client_queue_us,
    end_us - last_token_us AS close_us,
    -- The server told as many tokens as we saw chunks: each chunk was one token.  A tokenizer's count
    -- of the whole text says nothing about a single chunk.
    coalesce(output_tokens = n_chunks, false)
        AND coalesce(token_source, '') NOT IN ('chunks', 'tokenizer') AS one_token_per_chunk
FROM requests;

-- The same with what its gaps were like: the join costs, so only for those who read that.
CREATE OR REPLACE VIEW request_times AS
SELECT * FROM request_spans LEFT JOIN request_gaps USING (run_id, request_id);

-- Bucket of a time in µs, and its value: storage/buckets.py says the same in numpy.
CREATE OR REPLACE MACRO bucket(us) AS
    CASE WHEN us <= 0 THEN 0 ELSE greatest(ceil(ln(us) / ln(1.02)), 0) + 1 END::SMALLINT;
CREATE OR REPLACE MACRO bucket_us(b) AS CASE WHEN b = 0 THEN 0 ELSE 2 * pow(1.02, b - 1) / 2.02 END;
