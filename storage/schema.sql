-- Headway's tables, version 5.  Every column, its unit and what its null means: docs/schema.md.
-- Measured reasons: integers (µs, not ns: a third less file), gap stored beside the time, no
-- primary key on large tables (+37 % size), and no column named like a word DuckDB 2 refuses bare.

CREATE TABLE meta (k VARCHAR PRIMARY KEY, v VARCHAR NOT NULL);

CREATE TYPE token_kind AS ENUM ('content', 'reasoning', 'refusal', 'tool');

CREATE SEQUENCE run_ids START 1;

CREATE TABLE runs (
    run_id INTEGER PRIMARY KEY DEFAULT nextval('run_ids'),
    run_uid UUID UNIQUE NOT NULL,
    name VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    message VARCHAR,
    created_epoch_ns BIGINT NOT NULL,
    epoch_ns BIGINT,
    ended_epoch_ns BIGINT,
    t0_mono_ns BIGINT,
    url VARCHAR,
    target_url VARCHAR,
    model VARCHAR,
    api VARCHAR,
    plan VARCHAR NOT NULL,
    plan_sha256 VARCHAR NOT NULL,
    n_stages INTEGER NOT NULL,
    planned_s DOUBLE,
    n_workers INTEGER,
    host VARCHAR,
    cpu_count INTEGER,
    stamps VARCHAR,
    versions VARCHAR,
    preflight VARCHAR,
    self_test VARCHAR,
    dropped_fields VARCHAR,
    http VARCHAR,
    insecure BOOLEAN,
    proxy VARCHAR,
    notes VARCHAR,
    facts VARCHAR,
    n_events BIGINT,
    n_requests BIGINT,
    n_damaged_segments INTEGER NOT NULL DEFAULT 0,
    is_final BOOLEAN NOT NULL DEFAULT false,
    source VARCHAR,
    raw_dropped_epoch_ns BIGINT
);

CREATE TABLE stages (
    run_id INTEGER NOT NULL,
    stage INTEGER NOT NULL,
    name VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    concurrency INTEGER,
    rate_per_s DOUBLE,
    begin_us BIGINT NOT NULL,
    issue_end_us BIGINT,
    end_us BIGINT,
    load VARCHAR,
    asked INTEGER,
    why VARCHAR
);

CREATE TABLE requests (
    run_id INTEGER NOT NULL,
    request_id INTEGER NOT NULL,
    x_request_id VARCHAR NOT NULL,
    worker INTEGER NOT NULL,
    stage INTEGER NOT NULL,
    phase VARCHAR NOT NULL,
    outcome VARCHAR NOT NULL,
    dispatched_us BIGINT NOT NULL,
    end_us BIGINT NOT NULL,
    due_us BIGINT,
    send_us BIGINT,
    conn_reused BOOLEAN,
    reconnects INTEGER NOT NULL,
    dns_us BIGINT,
    connect_us BIGINT,
    tls_us BIGINT,
    first_byte_us BIGINT,
    headers_us BIGINT,
    first_token_us BIGINT,
    first_visible_us BIGINT,
    last_token_us BIGINT,
    http_status INTEGER,
    finish_reason VARCHAR,
    detail VARCHAR,
    response_id VARCHAR,
    prompt_tokens INTEGER,
    cached_tokens INTEGER,
    output_tokens INTEGER,
    reasoning_tokens INTEGER,
    token_source VARCHAR,
    prompt_tokens_planned INTEGER,
    max_tokens INTEGER,
    n_chunks INTEGER NOT NULL,
    first_chunk_tokens INTEGER,
    other_events VARCHAR NOT NULL,
    n_shared INTEGER NOT NULL,
    n_missing_stamps INTEGER NOT NULL,
    bytes_received BIGINT NOT NULL,
    form VARCHAR,
    whole_us BIGINT,
    coding VARCHAR,
    retry_after_s DOUBLE,
    server_request_id VARCHAR,
    server_queue_us BIGINT,
    server_prefill_us BIGINT,
    server_decode_us BIGINT,
    tokenizer_tokens INTEGER,
    n_choices INTEGER,
    traffic_class VARCHAR,
    target VARCHAR,
    conversation INTEGER,
    turn INTEGER,
    prefix_group INTEGER,
    prompt_no INTEGER
);

CREATE TABLE token_events (
    run_id INTEGER NOT NULL,
    request_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    t_us BIGINT NOT NULL,
    gap_us INTEGER,
    n_tokens USMALLINT,
    kind token_kind NOT NULL,
    lag_us INTEGER,
    shared BOOLEAN NOT NULL,
    bound_us INTEGER NOT NULL
);

CREATE TABLE pulses (
    run_id INTEGER NOT NULL,
    worker INTEGER NOT NULL,
    t_us BIGINT NOT NULL,
    stage INTEGER NOT NULL,
    in_flight INTEGER NOT NULL,
    sent BIGINT NOT NULL,
    done BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    not_sent BIGINT NOT NULL,
    reads BIGINT NOT NULL,
    missing_stamps BIGINT NOT NULL,
    read_lag_p50_us BIGINT,
    read_lag_p99_us BIGINT,
    read_lag_max_us BIGINT,
    send_lag_p99_us BIGINT,
    send_lag_max_us BIGINT,
    hub_late_max_us BIGINT,
    gc_pause_max_us BIGINT,
    cpu_share DOUBLE NOT NULL,
    rss_bytes BIGINT NOT NULL,
    backlog_bytes BIGINT NOT NULL,
    connects INTEGER,
    connect_p50_us BIGINT,
    rtt_p50_us BIGINT,
    dispatch_lag_p99_us BIGINT
);

-- Summaries: what pages read instead of token_events.  Additive while a run goes on, exact at its end.
CREATE TABLE hist (
    run_id INTEGER NOT NULL,
    stage INTEGER NOT NULL,
    metric VARCHAR NOT NULL,
    b SMALLINT NOT NULL,
    n BIGINT NOT NULL,
    traffic_class VARCHAR,
    sec INTEGER
);

CREATE TABLE tok_sec (
    run_id INTEGER NOT NULL,
    stage INTEGER NOT NULL,
    sec INTEGER NOT NULL,
    tokens BIGINT NOT NULL,
    events BIGINT NOT NULL,
    unknown BIGINT NOT NULL,
    traffic_class VARCHAR,
    shared BIGINT,
    missing BIGINT,
    timely_gaps BIGINT,
    together BIGINT,
    bound_max_us INTEGER
);

-- How far arrivals may be trusted, per load worker and second of arrival.
CREATE TABLE doubt_sec (
    run_id INTEGER NOT NULL,
    worker INTEGER NOT NULL,
    sec INTEGER NOT NULL,
    events BIGINT NOT NULL,
    shared BIGINT NOT NULL,
    missing BIGINT NOT NULL,
    bound_p99_us INTEGER,
    bound_max_us INTEGER
);

-- What a request's gaps between chunks were like; one row per request with two token events.
CREATE TABLE request_gaps (
    run_id INTEGER NOT NULL,
    request_id INTEGER NOT NULL,
    n_gaps INTEGER NOT NULL,
    longest_gap_us INTEGER NOT NULL,
    gap_mean_us FLOAT NOT NULL,
    gap_sd_us FLOAT NOT NULL,
    gap_p25_us FLOAT NOT NULL,
    gap_p50_us FLOAT NOT NULL,
    gap_p75_us FLOAT NOT NULL,
    gap_p95_us FLOAT NOT NULL,
    stalls_100 INTEGER NOT NULL,
    stalls_250 INTEGER NOT NULL,
    stalls_500 INTEGER NOT NULL,
    stalls_1000 INTEGER NOT NULL,
    stalled_100_us BIGINT NOT NULL,
    stalled_250_us BIGINT NOT NULL,
    stalled_500_us BIGINT NOT NULL,
    stalled_1000_us BIGINT NOT NULL,
    paused_us BIGINT NOT NULL,
    is_told BOOLEAN NOT NULL
);

-- A level's window where a reader moved it; without a row it is the one found automatically.
CREATE TABLE windows (
    run_id INTEGER NOT NULL,
    stage INTEGER NOT NULL,
    w0_us BIGINT NOT NULL,
    w1_us BIGINT NOT NULL
);

-- Answers to exact questions about token events of a final run: asked once, kept.
CREATE TABLE kept_answers (
    run_id INTEGER NOT NULL,
    question VARCHAR NOT NULL,
    answer BLOB NOT NULL
);

CREATE TABLE summary (
    run_id INTEGER NOT NULL,
    stage INTEGER,
    n_requests BIGINT NOT NULL,
    n_complete BIGINT NOT NULL,
    n_failed BIGINT NOT NULL,
    n_cancelled BIGINT NOT NULL,
    n_not_sent BIGINT NOT NULL,
    output_tokens BIGINT,
    tokens_per_chunk DOUBLE,
    ttft_p50_us DOUBLE,
    ttft_p95_us DOUBLE,
    ttft_p99_us DOUBLE,
    e2e_p95_us DOUBLE,
    peak_tokens_per_s DOUBLE,
    traffic_class VARCHAR
);

-- One row per part of a column segment, written in the transaction that stores its rows.
CREATE TABLE seg_ledger (
    run_id INTEGER NOT NULL,
    worker INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    part INTEGER NOT NULL,
    n_rows INTEGER NOT NULL,
    is_last BOOLEAN NOT NULL,
    loaded_at TIMESTAMP NOT NULL DEFAULT current_timestamp::TIMESTAMP,
    PRIMARY KEY (run_id, worker, seq, part)
);
