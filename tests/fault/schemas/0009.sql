BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0009');
CREATE TABLE api_keys (
	key_id BLOB NOT NULL, 
	name BLOB NOT NULL, 
	tenant BLOB NOT NULL, 
	scopes BLOB NOT NULL, 
	salt BLOB NOT NULL, 
	digest BLOB NOT NULL, 
	created_at BIGINT NOT NULL, 
	expires_at BIGINT, 
	revoked_at BIGINT, 
	CONSTRAINT pk_api_keys PRIMARY KEY (key_id)
)
 WITHOUT ROWID

;
INSERT INTO "api_keys" VALUES(X'6B31',X'6C6170746F70',X'61636D65',X'5B2272656164222C227772697465225D',X'73616C74',X'646967657374',1715949015000250,NULL,NULL);
CREATE TABLE cue_vectors (
	user_id BLOB NOT NULL, 
	cue BIGINT NOT NULL, 
	embedder INTEGER NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT pk_cue_vectors PRIMARY KEY (user_id, cue, embedder), 
	CONSTRAINT fk_cue_vectors_cues FOREIGN KEY(user_id, cue) REFERENCES cues (user_id, cue) ON DELETE CASCADE
);
INSERT INTO "cue_vectors" VALUES(X'616E6100',1,1,X'0034003A');
CREATE TABLE cues (
	user_id BLOB NOT NULL, 
	cue BIGINT NOT NULL, 
	"key" BLOB NOT NULL, 
	surface BLOB NOT NULL, 
	revision BIGINT NOT NULL, 
	CONSTRAINT pk_cues PRIMARY KEY (user_id, cue), 
	CONSTRAINT uq_cues_user_id_key UNIQUE (user_id, "key"), 
	CONSTRAINT fk_cues_users FOREIGN KEY(user_id) REFERENCES users (user_id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "cues" VALUES(X'616E6100',1,X'6F736C6F',X'4F736C6F',1);
INSERT INTO "cues" VALUES(X'616E6100',2,X'6D6179',X'4D6179',1);
CREATE TABLE departed (
	digest BLOB NOT NULL, 
	revision BIGINT NOT NULL, 
	base BIGINT NOT NULL, 
	next_seq BIGINT NOT NULL, 
	next_ordinal BIGINT NOT NULL, 
	next_trace BIGINT NOT NULL, 
	next_note BIGINT NOT NULL, 
	next_operation BIGINT NOT NULL, 
	next_cue BIGINT NOT NULL, 
	next_request BIGINT NOT NULL, 
	CONSTRAINT pk_departed PRIMARY KEY (digest)
)
 WITHOUT ROWID

;
INSERT INTO "departed" VALUES(X'3D30F595070E858A9573E432377BEA27A7FB1A19AA298943E414D3C839D34783',2,2,0,0,1,1,1,1,1);
CREATE TABLE embedders (
	embedder INTEGER NOT NULL, 
	fingerprint BLOB NOT NULL, 
	name BLOB, 
	dim INTEGER NOT NULL, 
	thresholds BLOB, 
	active BOOLEAN NOT NULL, 
	CONSTRAINT pk_embedders PRIMARY KEY (embedder), 
	CONSTRAINT uq_embedders_fingerprint UNIQUE (fingerprint)
)
 WITHOUT ROWID

;
INSERT INTO "embedders" VALUES(1,X'6670',X'74776F206E756D62657273',2,X'7B227461755F696E6974223A302E312C227461755F616C696173223A302E322C227461755F69746572223A302E332C2272656C6576616E6365223A302E347D',1);
CREATE TABLE embedding (
	user_id BLOB NOT NULL, 
	lease VARCHAR(32), 
	attempts INTEGER NOT NULL, 
	due_at BIGINT NOT NULL, 
	reason BLOB, 
	CONSTRAINT pk_embedding PRIMARY KEY (user_id), 
	CONSTRAINT fk_embedding_users FOREIGN KEY(user_id) REFERENCES users (user_id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "embedding" VALUES(X'616E6100',NULL,1,1717434300000000,X'736F6D6520776F72647320636F756C64206E6F7420626520656D626564646564202873656520746865206C6F6729');
CREATE TABLE episode_turns (
	user_id BLOB NOT NULL, 
	episode BIGINT NOT NULL, 
	no INTEGER NOT NULL, 
	seq BIGINT NOT NULL, 
	CONSTRAINT pk_episode_turns PRIMARY KEY (user_id, episode, no), 
	CONSTRAINT uq_episode_turns_user_id_seq UNIQUE (user_id, seq), 
	CONSTRAINT fk_episode_turns_episodes FOREIGN KEY(user_id, episode) REFERENCES episodes (user_id, episode) ON DELETE CASCADE, 
	CONSTRAINT fk_episode_turns_turns FOREIGN KEY(user_id, seq) REFERENCES turns (user_id, seq) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "episode_turns" VALUES(X'616E6100',3,0,0);
INSERT INTO "episode_turns" VALUES(X'616E6100',3,1,1);
CREATE TABLE episodes (
	user_id BLOB NOT NULL, 
	episode BIGINT NOT NULL, 
	session_id BLOB NOT NULL, 
	topic BLOB NOT NULL, 
	summary BLOB NOT NULL, 
	made_by BLOB NOT NULL, 
	recorded_at BIGINT NOT NULL, 
	revision BIGINT NOT NULL, 
	CONSTRAINT pk_episodes PRIMARY KEY (user_id, episode), 
	CONSTRAINT fk_episodes_users FOREIGN KEY(user_id) REFERENCES users (user_id) ON DELETE CASCADE
);
INSERT INTO "episodes" VALUES(X'616E6100',3,X'7331',X'6D6F76696E67',X'',X'72756C6573',1715949015000250,3);
CREATE TABLE given_notes (
	user_id BLOB NOT NULL, 
	note BIGINT NOT NULL, 
	version INTEGER NOT NULL, 
	given_id BLOB NOT NULL, 
	CONSTRAINT pk_given_notes PRIMARY KEY (user_id, note, version), 
	CONSTRAINT uq_given_notes_user_id_given_id_version UNIQUE (user_id, given_id, version), 
	CONSTRAINT fk_given_notes_notes FOREIGN KEY(user_id, note, version) REFERENCES notes (user_id, note, version) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "given_notes" VALUES(X'616E6100',1,1,X'676976656E');
INSERT INTO "given_notes" VALUES(X'616E6100',1,2,X'676976656E');
CREATE TABLE note_confirmations (
	user_id BLOB NOT NULL, 
	note BIGINT NOT NULL, 
	version INTEGER NOT NULL, 
	seq BIGINT NOT NULL, 
	CONSTRAINT pk_note_confirmations PRIMARY KEY (user_id, note, version, seq), 
	CONSTRAINT fk_note_confirmations_notes FOREIGN KEY(user_id, note, version) REFERENCES notes (user_id, note, version) ON DELETE CASCADE, 
	CONSTRAINT fk_note_confirmations_turns FOREIGN KEY(user_id, seq) REFERENCES turns (user_id, seq) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "note_confirmations" VALUES(X'616E6100',1,2,1);
CREATE TABLE note_cues (
	user_id BLOB NOT NULL, 
	note BIGINT NOT NULL, 
	version INTEGER NOT NULL, 
	cue BIGINT NOT NULL, 
	mentions INTEGER NOT NULL, 
	CONSTRAINT pk_note_cues PRIMARY KEY (user_id, note, version, cue), 
	CONSTRAINT fk_note_cues_notes FOREIGN KEY(user_id, note, version) REFERENCES notes (user_id, note, version) ON DELETE CASCADE, 
	CONSTRAINT fk_note_cues_cues FOREIGN KEY(user_id, cue) REFERENCES cues (user_id, cue)
)
 WITHOUT ROWID

;
INSERT INTO "note_cues" VALUES(X'616E6100',1,1,1,1);
CREATE TABLE note_sources (
	user_id BLOB NOT NULL, 
	note BIGINT NOT NULL, 
	version INTEGER NOT NULL, 
	no INTEGER NOT NULL, 
	seq BIGINT NOT NULL, 
	start INTEGER NOT NULL, 
	stop INTEGER NOT NULL, 
	CONSTRAINT pk_note_sources PRIMARY KEY (user_id, note, version, no), 
	CONSTRAINT fk_note_sources_notes FOREIGN KEY(user_id, note, version) REFERENCES notes (user_id, note, version) ON DELETE CASCADE, 
	CONSTRAINT fk_note_sources_turns FOREIGN KEY(user_id, seq) REFERENCES turns (user_id, seq) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "note_sources" VALUES(X'616E6100',1,1,0,0,0,23);
INSERT INTO "note_sources" VALUES(X'616E6100',1,2,0,0,0,23);
CREATE TABLE note_vectors (
	user_id BLOB NOT NULL, 
	note BIGINT NOT NULL, 
	version INTEGER NOT NULL, 
	embedder INTEGER NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT pk_note_vectors PRIMARY KEY (user_id, note, version, embedder), 
	CONSTRAINT fk_note_vectors_notes FOREIGN KEY(user_id, note, version) REFERENCES notes (user_id, note, version) ON DELETE CASCADE
);
INSERT INTO "note_vectors" VALUES(X'616E6100',1,1,1,X'003C003C');
CREATE TABLE notes (
	user_id BLOB NOT NULL, 
	note BIGINT NOT NULL, 
	version INTEGER NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	about BLOB NOT NULL, 
	text BLOB NOT NULL, 
	from_at BIGINT, 
	from_offset INTEGER, 
	until_at BIGINT, 
	until_offset INTEGER, 
	status VARCHAR(16) NOT NULL, 
	metadata BLOB, 
	recorded_at BIGINT NOT NULL, 
	revision BIGINT NOT NULL, 
	CONSTRAINT pk_notes PRIMARY KEY (user_id, note, version), 
	CONSTRAINT fk_notes_users FOREIGN KEY(user_id) REFERENCES users (user_id) ON DELETE CASCADE
);
INSERT INTO "notes" VALUES(X'616E6100',1,1,'fact',X'416E61',X'49206D6F76656420746F204F736C6F20696E204D61792E',1714521600000000,0,1717200000000000,0,'superseded',X'7B226D223A317D',1715947200000000,2);
INSERT INTO "notes" VALUES(X'616E6100',1,2,'state',X'416E61',X'49206C69766520696E204F736C6F2E',1714521600000000,0,NULL,NULL,'current',NULL,1715947200000000,3);
CREATE TABLE operation_details (
	user_id BLOB NOT NULL, 
	operation BIGINT NOT NULL, 
	detail BLOB NOT NULL, 
	CONSTRAINT pk_operation_details PRIMARY KEY (user_id, operation), 
	CONSTRAINT fk_operation_details_operations FOREIGN KEY(user_id, operation) REFERENCES operations (user_id, operation) ON DELETE CASCADE
)
 WITHOUT ROWID

;
CREATE TABLE operations (
	user_id BLOB NOT NULL, 
	operation BIGINT NOT NULL, 
	at BIGINT NOT NULL, 
	action VARCHAR(16) NOT NULL, 
	target_id BLOB NOT NULL, 
	version INTEGER, 
	"trigger" BLOB NOT NULL, 
	"before" BLOB, 
	"after" BLOB, 
	CONSTRAINT pk_operations PRIMARY KEY (user_id, operation), 
	CONSTRAINT fk_operations_users FOREIGN KEY(user_id) REFERENCES users (user_id) ON DELETE CASCADE
);
INSERT INTO "operations" VALUES(X'616E6100',1,1715947200000000,'ADD',X'4E31',1,X'616464',NULL,X'49206D6F76656420746F204F736C6F20696E204D61792E');
INSERT INTO "operations" VALUES(X'616E6100',2,1715947200000000,'UPDATE',X'4E31',2,X'706572736F6E',X'49206D6F76656420746F204F736C6F20696E204D61792E',X'49206C69766520696E204F736C6F2E');
CREATE TABLE phrases (
	user_id BLOB NOT NULL, 
	seq BIGINT NOT NULL, 
	no INTEGER NOT NULL, 
	start INTEGER NOT NULL, 
	stop INTEGER NOT NULL, 
	from_at BIGINT, 
	from_offset INTEGER, 
	until_at BIGINT, 
	until_offset INTEGER, 
	CONSTRAINT pk_phrases PRIMARY KEY (user_id, seq, no), 
	CONSTRAINT fk_phrases_turns FOREIGN KEY(user_id, seq) REFERENCES turns (user_id, seq) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "phrases" VALUES(X'616E6100',0,0,16,22,1714521600000000,0,1717200000000000,0);
CREATE TABLE proposals (
	user_id BLOB NOT NULL, 
	note BIGINT NOT NULL, 
	version INTEGER NOT NULL, 
	relation VARCHAR(16) NOT NULL, 
	target BIGINT, 
	CONSTRAINT pk_proposals PRIMARY KEY (user_id, note, version), 
	CONSTRAINT fk_proposals_notes FOREIGN KEY(user_id, note, version) REFERENCES notes (user_id, note, version) ON DELETE CASCADE
)
 WITHOUT ROWID

;
CREATE TABLE removals (
	user_id BLOB NOT NULL, 
	revision BIGINT NOT NULL, 
	kind VARCHAR(8) NOT NULL, 
	number BIGINT NOT NULL, 
	CONSTRAINT pk_removals PRIMARY KEY (user_id, revision, kind, number), 
	CONSTRAINT fk_removals_users FOREIGN KEY(user_id) REFERENCES users (user_id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "removals" VALUES(X'626F',2,'trace',1);
INSERT INTO "removals" VALUES(X'626F',2,'turn',0);
CREATE TABLE replies (
	user_id BLOB NOT NULL, 
	"key" BLOB NOT NULL, 
	request BLOB NOT NULL, 
	status INTEGER, 
	body BLOB NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_replies PRIMARY KEY (user_id, "key")
)
 WITHOUT ROWID

;
INSERT INTO "replies" VALUES(X'616E6100',X'7231',X'61736B6564',201,X'7B7D',1715949015000250);
CREATE TABLE request_turns (
	user_id BLOB NOT NULL, 
	request BIGINT NOT NULL, 
	no INTEGER NOT NULL, 
	seq BIGINT NOT NULL, 
	CONSTRAINT pk_request_turns PRIMARY KEY (user_id, request, no), 
	CONSTRAINT fk_request_turns_requests FOREIGN KEY(user_id, request) REFERENCES requests (user_id, request) ON DELETE CASCADE, 
	CONSTRAINT fk_request_turns_turns FOREIGN KEY(user_id, seq) REFERENCES turns (user_id, seq) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "request_turns" VALUES(X'616E6100',1,0,0);
INSERT INTO "request_turns" VALUES(X'616E6100',1,1,1);
CREATE TABLE requests (
	user_id BLOB NOT NULL, 
	request BIGINT NOT NULL, 
	"key" BLOB NOT NULL, 
	CONSTRAINT pk_requests PRIMARY KEY (user_id, request), 
	CONSTRAINT uq_requests_user_id_key UNIQUE (user_id, "key"), 
	CONSTRAINT fk_requests_users FOREIGN KEY(user_id) REFERENCES users (user_id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "requests" VALUES(X'616E6100',1,X'6B6579');
CREATE TABLE restoring (
	user_id BLOB NOT NULL, 
	export BLOB NOT NULL, 
	CONSTRAINT pk_restoring PRIMARY KEY (user_id), 
	CONSTRAINT fk_restoring_users FOREIGN KEY(user_id) REFERENCES users (user_id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "restoring" VALUES(X'616E6100',X'6531');
CREATE TABLE settings (
	name BLOB NOT NULL, 
	value BLOB NOT NULL, 
	CONSTRAINT pk_settings PRIMARY KEY (name)
)
 WITHOUT ROWID

;
INSERT INTO "settings" VALUES(X'6375655F657874726163746F72',X'72756C6573');
CREATE TABLE spending (
	day DATE NOT NULL, 
	purpose VARCHAR(16) NOT NULL, 
	calls BIGINT NOT NULL, 
	tokens_in BIGINT NOT NULL, 
	tokens_out BIGINT NOT NULL, 
	cost BIGINT NOT NULL, 
	unpriced BIGINT NOT NULL, 
	CONSTRAINT pk_spending PRIMARY KEY (day, purpose)
)
 WITHOUT ROWID

;
INSERT INTO "spending" VALUES('2024-05-17','notes',2,300,40,1200000,1);
CREATE TABLE tasks (
	user_id BLOB NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	target_id BLOB NOT NULL, 
	CONSTRAINT pk_tasks PRIMARY KEY (user_id, target_id, kind), 
	CONSTRAINT fk_tasks_users FOREIGN KEY(user_id) REFERENCES users (user_id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "tasks" VALUES(X'616E6100','embed',X'7432');
CREATE TABLE trace_spans (
	user_id BLOB NOT NULL, 
	trace BIGINT NOT NULL, 
	no INTEGER NOT NULL, 
	seq BIGINT NOT NULL, 
	start INTEGER NOT NULL, 
	stop INTEGER NOT NULL, 
	CONSTRAINT pk_trace_spans PRIMARY KEY (user_id, trace, no), 
	CONSTRAINT fk_trace_spans_traces FOREIGN KEY(user_id, trace) REFERENCES traces (user_id, trace) ON DELETE CASCADE, 
	CONSTRAINT fk_trace_spans_turns FOREIGN KEY(user_id, seq) REFERENCES turns (user_id, seq) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "trace_spans" VALUES(X'616E6100',1,0,0,0,25);
INSERT INTO "trace_spans" VALUES(X'616E6100',2,0,1,0,12);
CREATE TABLE trace_vectors (
	user_id BLOB NOT NULL, 
	trace BIGINT NOT NULL, 
	embedder INTEGER NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT pk_trace_vectors PRIMARY KEY (user_id, trace, embedder), 
	CONSTRAINT fk_trace_vectors_traces FOREIGN KEY(user_id, trace) REFERENCES traces (user_id, trace) ON DELETE CASCADE
);
INSERT INTO "trace_vectors" VALUES(X'616E6100',1,1,X'0000003C');
CREATE TABLE traces (
	user_id BLOB NOT NULL, 
	trace BIGINT NOT NULL, 
	ordinal BIGINT NOT NULL, 
	session_id BLOB NOT NULL, 
	tokens INTEGER NOT NULL, 
	revision BIGINT NOT NULL, 
	CONSTRAINT pk_traces PRIMARY KEY (user_id, trace), 
	CONSTRAINT fk_traces_users FOREIGN KEY(user_id) REFERENCES users (user_id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "traces" VALUES(X'616E6100',1,0,X'7330',9,1);
INSERT INTO "traces" VALUES(X'616E6100',2,1,X'7331',5,1);
CREATE TABLE turns (
	user_id BLOB NOT NULL, 
	seq BIGINT NOT NULL, 
	turn_id BLOB NOT NULL, 
	session_id BLOB NOT NULL, 
	agent_id BLOB, 
	role VARCHAR(16) NOT NULL, 
	speaker BLOB NOT NULL, 
	text BLOB NOT NULL, 
	parts BLOB, 
	given BLOB, 
	timestamp BIGINT, 
	utc_offset INTEGER, 
	metadata BLOB, 
	recorded_at BIGINT NOT NULL, 
	revision BIGINT NOT NULL, tier VARCHAR(12), quarantine VARCHAR(12), 
	CONSTRAINT pk_turns PRIMARY KEY (user_id, seq), 
	CONSTRAINT uq_turns_user_id_turn_id UNIQUE (user_id, turn_id), 
	CONSTRAINT fk_turns_users FOREIGN KEY(user_id) REFERENCES users (user_id) ON DELETE CASCADE
);
INSERT INTO "turns" VALUES(X'616E6100',0,X'7431',X'7330',X'6775696465','user',X'416E61',X'49206D6F76656420746F204F736C6F20696E204D61792E20EDA080',X'5B5B2274657874222C302C32332C6E756C6C5D5D',X'7B22726F6C65223A2275736572222C2278223A5B312E352C6E756C6C5D7D',1715929200000000,7200,X'7B226B223A5B22C3A9225D7D',1715947200000000,1,NULL,NULL);
INSERT INTO "turns" VALUES(X'616E6100',1,X'7432',X'7331',NULL,'assistant',X'4775696465',X'486F77206973204F736C6F3F',NULL,NULL,NULL,NULL,NULL,1715947200000000,1,'tool','held');
CREATE TABLE unit_cues (
	user_id BLOB NOT NULL, 
	seq BIGINT NOT NULL, 
	no INTEGER NOT NULL, 
	cue BIGINT NOT NULL, 
	mentions INTEGER NOT NULL, 
	CONSTRAINT pk_unit_cues PRIMARY KEY (user_id, seq, no, cue), 
	CONSTRAINT fk_unit_cues_units FOREIGN KEY(user_id, seq, no) REFERENCES units (user_id, seq, no) ON DELETE CASCADE, 
	CONSTRAINT fk_unit_cues_cues FOREIGN KEY(user_id, cue) REFERENCES cues (user_id, cue)
)
 WITHOUT ROWID

;
INSERT INTO "unit_cues" VALUES(X'616E6100',0,0,1,1);
INSERT INTO "unit_cues" VALUES(X'616E6100',0,0,2,1);
INSERT INTO "unit_cues" VALUES(X'616E6100',1,0,1,1);
CREATE TABLE unit_vectors (
	user_id BLOB NOT NULL, 
	seq BIGINT NOT NULL, 
	no INTEGER NOT NULL, 
	embedder INTEGER NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT pk_unit_vectors PRIMARY KEY (user_id, seq, no, embedder), 
	CONSTRAINT fk_unit_vectors_turns FOREIGN KEY(user_id, seq) REFERENCES turns (user_id, seq) ON DELETE CASCADE
);
INSERT INTO "unit_vectors" VALUES(X'616E6100',0,0,1,X'003800C0');
CREATE TABLE units (
	user_id BLOB NOT NULL, 
	seq BIGINT NOT NULL, 
	no INTEGER NOT NULL, 
	start INTEGER NOT NULL, 
	stop INTEGER NOT NULL, 
	CONSTRAINT pk_units PRIMARY KEY (user_id, seq, no), 
	CONSTRAINT fk_units_turns FOREIGN KEY(user_id, seq) REFERENCES turns (user_id, seq) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "units" VALUES(X'616E6100',0,0,0,23);
INSERT INTO "units" VALUES(X'616E6100',1,0,0,12);
CREATE TABLE usage (
	user_id BLOB NOT NULL, 
	day DATE NOT NULL, 
	purpose VARCHAR(16) NOT NULL, 
	calls BIGINT NOT NULL, 
	tokens_in BIGINT NOT NULL, 
	tokens_out BIGINT NOT NULL, 
	cost BIGINT NOT NULL, 
	unpriced BIGINT NOT NULL, 
	CONSTRAINT pk_usage PRIMARY KEY (user_id, day, purpose), 
	CONSTRAINT fk_usage_users FOREIGN KEY(user_id) REFERENCES users (user_id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "usage" VALUES(X'616E6100','2024-05-17','notes',2,300,40,1200000,1);
CREATE TABLE users (
	user_id BLOB NOT NULL, 
	revision BIGINT NOT NULL, 
	base BIGINT NOT NULL, 
	next_seq BIGINT NOT NULL, 
	next_ordinal BIGINT NOT NULL, 
	next_trace BIGINT NOT NULL, 
	next_note BIGINT NOT NULL, 
	next_operation BIGINT NOT NULL, 
	next_cue BIGINT NOT NULL, 
	next_request BIGINT NOT NULL, 
	CONSTRAINT pk_users PRIMARY KEY (user_id)
)
 WITHOUT ROWID

;
INSERT INTO "users" VALUES(X'616E6100',3,0,2,2,4,2,3,3,2);
INSERT INTO "users" VALUES(X'626F',2,0,1,1,2,1,1,1,1);
CREATE TABLE work (
	user_id BLOB NOT NULL, 
	trace BIGINT NOT NULL, 
	kind VARCHAR(8) NOT NULL, 
	state VARCHAR(8) NOT NULL, 
	attempts INTEGER NOT NULL, 
	due_at BIGINT NOT NULL, 
	lease VARCHAR(32), 
	reason BLOB, 
	CONSTRAINT pk_work PRIMARY KEY (user_id, trace, kind), 
	CONSTRAINT fk_work_traces FOREIGN KEY(user_id, trace) REFERENCES traces (user_id, trace) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "work" VALUES(X'616E6100',1,'notes','pending',0,1715949015000250,NULL,NULL);
INSERT INTO "work" VALUES(X'616E6100',2,'notes','pending',0,1715949015000250,NULL,NULL);
CREATE INDEX ix_turns_user_id_session_id_seq ON turns (user_id, session_id, seq);
CREATE INDEX ix_turns_user_id_revision ON turns (user_id, revision);
CREATE INDEX ix_cues_user_id_revision ON cues (user_id, revision);
CREATE INDEX ix_unit_cues_user_id_cue ON unit_cues (user_id, cue);
CREATE INDEX ix_traces_user_id_revision ON traces (user_id, revision);
CREATE INDEX ix_trace_spans_user_id_seq ON trace_spans (user_id, seq);
CREATE INDEX ix_notes_user_id_revision ON notes (user_id, revision);
CREATE INDEX ix_note_sources_user_id_seq ON note_sources (user_id, seq);
CREATE INDEX ix_note_cues_user_id_cue ON note_cues (user_id, cue);
CREATE INDEX ix_operations_user_id_target_id ON operations (user_id, target_id);
CREATE INDEX ix_request_turns_user_id_seq ON request_turns (user_id, seq);
CREATE INDEX ix_turns_user_id_speaker ON turns (user_id, speaker);
CREATE INDEX ix_note_confirmations_user_id_seq ON note_confirmations (user_id, seq);
CREATE INDEX ix_episodes_user_id_revision ON episodes (user_id, revision);
CREATE INDEX ix_work_state_due_at ON work (state, due_at);
CREATE INDEX ix_replies_at ON replies (at);
COMMIT;
