-- A bank goes to vectors that were made beside by one row, whatever its size; they are put in place afterwards.
-- depends: 20261130150000_reembedding

ALTER TABLE banks ADD COLUMN vectors_beside uuid;
COMMENT ON COLUMN banks.vectors_beside IS
    'whose reembedded_vectors serve where a row''s own vector is not of the bank''s model: the operation that puts them in place';

CREATE INDEX reembedded_vectors_nearest ON reembedded_vectors USING hnsw (embedding halfvec_cosine_ops) WHERE kind = 'memory';
