// Written by "make clients" from docs/openapi.json. Do not edit: change the API, or .ci/clients.
// What Earshot's HTTP API takes and answers, and a method for each operation.

import type { CallOptions, ServerEvent, Transport } from "./transport.js";

export interface AbortedTurn {
  state: "aborted" | "committed";
  /** its id */
  turn: number;
}

export interface AgentBody {
  /** further ids that it goes by, such as a Slack bot id beside its user id */
  aliases?: string[] | undefined;
  name: string;
  /** default: every platform of the workspace */
  platform?: string | undefined;
  /** default: the key's only one */
  workspace?: string | undefined;
}

export interface AgentInfo {
  aliases: string[];
  /** where it is known in this channel only */
  channel?: string | undefined;
  id: string;
  name: string;
  /** absent where it is the same on all platforms */
  platform?: string | undefined;
  workspace: string;
}

export interface AgentList {
  agents: AgentInfo[];
}

export interface Approval {
  /** the message that is answered */
  anchor: string;
  /** the arguments to the byte; absent where they were erased */
  args?: string | undefined;
  asked: string;
  /** who asked the question */
  asker: string;
  asker_name?: string | undefined;
  /** who decided */
  by?: string | undefined;
  by_name?: string | undefined;
  /** the model's id of the call */
  call?: string | undefined;
  channel: string;
  channel_name: string;
  decided?: string | undefined;
  /** from then on nobody can agree */
  expires: string;
  id: string;
  /** an operator decided */
  operator?: boolean | undefined;
  platform: string;
  /** what came of the call */
  result?: string | undefined;
  /** of the arguments */
  sha256: string;
  state: "open" | "agreed" | "refused" | "expired" | "withdrawn";
  tool: string;
  turn: number;
  /** what who decided said to it */
  why?: string | undefined;
  workspace: string;
}

export interface ApprovalBody {
  /**
   * the id of the person who clicked, as their platform's event says; default: the caller decides, as an
   * operator
   */
  by?: string | undefined;
  decision?: "agree" | "refuse" | undefined;
  /** why; the model is told, and so is the channel */
  reason?: string | undefined;
  /** in place of a decision: what came of the call, in a few words */
  result?: string | undefined;
  /**
   * of the arguments that are agreed to; where it is another than that of the stored ones, nothing is
   * decided
   */
  sha256?: string | undefined;
}

export interface ApprovalsOutputBody {
  approvals: Approval[];
  /** the cursor of the next page; absent on the last */
  next?: string | undefined;
}

export interface AskBody {
  /**
   * what the tool would be given: an object, kept to the byte, or the text of one, as models write it;
   * 64 KiB at most
   */
  arguments: Record<string, unknown> | string;
  /** the id of who may decide as the asker; default: who wrote the question */
  asker?: string | undefined;
  /** the model's id of the call, unique in the turn */
  call: string;
  /** for how long somebody may decide; default: 3600 */
  expires_in_seconds?: number | undefined;
  /** its name */
  tool: string;
}

export interface AskedBy {
  emoji: string | null;
  id: string | null;
  name?: string | null | undefined;
  time?: string | null | undefined;
}

export interface Attached {
  id: string | null;
  sha256: string | null;
  tokens?: number | null | undefined;
  turn: number | null;
}

export interface Author {
  full_name?: string | null | undefined;
  id?: string | null | undefined;
  kind?: string | null | undefined;
  name?: string | null | undefined;
  not_allowed?: boolean | null | undefined;
  standing?: string | null | undefined;
  team?: string | null | undefined;
}

export interface AuthorJSON {
  id: string;
  kind: "human" | "bot" | "system";
  name: string;
}

export interface AuthorNamed {
  /** tells apart authors with the same name */
  full_name?: string | undefined;
  id: string;
  /** default: human */
  kind?: "human" | "bot" | "system" | undefined;
  name: string;
  /** IANA name of the person's time zone */
  zone?: string | undefined;
}

export interface AuthorsBody {
  authors: AuthorNamed[];
  /** default: every platform on which the workspace has channels */
  platform?: string | undefined;
  /** default: the key's only one */
  workspace?: string | undefined;
}

export interface Budget {
  limit?: number | null | undefined;
  session?: number | null | undefined;
  tokens?: number | null | undefined;
}

export interface Call {
  args: string | null;
  id: string | null;
  name: string | null;
}

export interface CallerInfo {
  /** absent: every channel of the workspaces */
  channels?: string[] | undefined;
  /** absent: never */
  expires?: string | undefined;
  /** of a key, as earshot key list shows it; of a token, issuer and subject; of a capability, whose it is */
  id: string;
  kind: "key" | "user" | "capability" | "local";
  limits: CallerLimits;
  /** of a key or a person */
  name?: string | undefined;
  /** what the next two fields say, in words */
  reaches: string;
  read_only: boolean;
  /** absent: every workspace */
  workspaces?: string[] | undefined;
}

export interface CallerLimits {
  body_bytes: number;
  /** in one request */
  events: number;
  requests_at_once?: number | undefined;
  /** absent: any number */
  requests_per_second?: number | undefined;
}

export interface CapabilityAnswer {
  /** a bearer token for POST /v1/tools/{name} */
  capability: string;
  expires: string;
}

export interface CapabilityBody {
  /** whose earlier turns are searched; default: the only agent that is known here */
  agent?: string | undefined;
  /** nothing that was said after it is shown; default: no bound */
  anchor?: string | undefined;
  /** its id, or an object; required, unless there is a conversation */
  channel?: string | CapabilityBodyChannel2 | undefined;
  /** how long it is valid; default: 60 */
  minutes?: number | null | undefined;
  /** the platform, where several have a channel with this id */
  platform?: string | undefined;
  /** the workspace's id, where several have a channel with this id */
  workspace?: string | undefined;
}

export interface CapabilityBodyChannel2 {
  /** the channel's id on its platform */
  id: string;
  platform?: string | undefined;
  workspace?: string | undefined;
}

export interface Channel {
  id?: string | null | undefined;
  kind?: string | null | undefined;
  name?: string | null | undefined;
  platform?: string | null | undefined;
  purpose?: string | null | undefined;
  shared?: boolean | null | undefined;
  topic?: string | null | undefined;
  workspace?: string | null | undefined;
}

export interface ChannelBody {
  kind?: "channel" | "dm" | "group" | undefined;
  /** without a leading # */
  name?: string | undefined;
  /** default: that of the stored channel, else api */
  platform?: string | undefined;
  purpose?: string | undefined;
  topic?: string | undefined;
  /** default: that of the stored channel, else the key's only one */
  workspace?: string | undefined;
}

export interface ChannelInfo {
  /** time of the first message */
  first?: string | undefined;
  id?: string | null | undefined;
  kind?: string | null | undefined;
  /** time of the last message */
  last?: string | undefined;
  /** how many are stored, without deleted ones */
  messages: number;
  name?: string | null | undefined;
  platform?: string | null | undefined;
  purpose?: string | null | undefined;
  shared?: boolean | null | undefined;
  /** roots with at least one reply */
  threads: number;
  topic?: string | null | undefined;
  workspace?: string | null | undefined;
}

export interface ChannelNamed {
  id: string;
  kind?: "channel" | "dm" | "group" | undefined;
  /** without a leading # */
  name?: string | undefined;
  /** default: that of the stored channel, else api */
  platform?: string | undefined;
  purpose?: string | undefined;
  topic?: string | undefined;
  /** default: that of the stored channel, else the key's only one */
  workspace?: string | undefined;
}

export interface ChannelPage {
  channels: ChannelInfo[];
  /** the cursor of the next page; absent on the last */
  next?: string | undefined;
}

export interface ChannelsBody {
  channels: ChannelNamed[];
}

export interface ChatAuthor {
  id?: string | null | undefined;
  name?: string | null | undefined;
}

export interface ChatConversation {
  agent_id: string;
  /** absent: the agent's own, without a channel */
  channel_id?: string | undefined;
  client_type: string;
  created_at: string;
  id: string;
  /**
   * Keys match [a-z][a-z0-9_]{0,63}; at most 64 keys and 16 KiB in all, and in a value 8 arrays and
   * objects in one another.
   */
  metadata: Record<string, string | number | boolean | unknown[] | Record<string, unknown>>;
  /** null: nobody's in particular */
  owner_id: string | null;
  /** api for what is Earshot's own */
  platform: string;
  tags: string[];
  /** absent: the channel's top level */
  thread_id?: string | undefined;
  title: string;
  updated_at: string;
  workspace_id?: string | undefined;
}

export interface ChatMessage {
  author: AuthorJSON;
  content: string;
  created_at: string;
  edited_at?: string | undefined;
  message_id: string;
  /** those of a message that has some */
  metadata?: Record<string, string | number | boolean | unknown[] | Record<string, unknown>> | undefined;
  role: "user" | "assistant";
}

export interface CommitBody {
  /** calls of tools, and what the tools answered, between prompt and reply */
  entries?: Entry[] | undefined;
  /** merged into the conversation's; null removes a key */
  metadata?: Record<string, string | null> | undefined;
  reply: ReplyJSON;
  /** what the model has used, in tokens */
  usage?: UsageJSON | undefined;
}

export interface CommittedTurn {
  anchor: string;
  /** its id */
  conversation: string;
  /** in its conversation, from 0 */
  number: number;
  /** it was committed before this request, which changed nothing */
  repeated: boolean;
  /** the ids of the reply's messages */
  replies: string[];
  /** its id */
  turn: number;
}

export interface ConflictProblem {
  /** what went wrong, for programs */
  code: string;
  /** the context anew, with a turn of its own; only where the conversation has changed */
  context?: ContextAnswer | undefined;
  /** what went wrong, for people, with the remedy where there is one */
  detail?: string | undefined;
  /** what is wrong with which field of the request, one sentence each */
  fields?: string[] | undefined;
  /**
   * the anchor has been answered, somebody else is answering it, the anchor was deleted, the
   * conversation has changed, or this turn was committed with another text, ids or usage
   */
  reason: "answered" | "answering" | "deleted" | "changed" | "other_reply";
  /** what the turn was committed with; of other_reply, and of answered when a turn is opened or renewed */
  reply?: StoredReply | undefined;
  /** the HTTP status */
  status: number;
  /** the status in words */
  title: string;
  /** which answered the anchor, or is answering it; when a turn is opened or renewed */
  turn?: number | undefined;
}

export interface ContextAnswer {
  /** a bearer token for POST /v1/tools/{name}, in this channel up to the anchor */
  capability?: string | undefined;
  /** its id */
  conversation: string;
  /** the files that messages of the prompt have as media */
  files?: PromptFile[] | undefined;
  /** of the prompt */
  hash: string;
  ledger?: LedgerRow[] | undefined;
  /** what committing the turn stores, besides the reply */
  next?: Next | undefined;
  notes: Note[];
  prompt: PromptJSON;
  /**
   * the messages that the prompt shows, in the order in which they were said, where the request asks for
   * them
   */
  sources?: SourceJSON[] | undefined;
  tokens: ResultTokens;
  tools?: ToolInfo[] | undefined;
  turn?: OpenTurn | undefined;
}

export interface ContextBody {
  /** with open: also where the question has been answered, or somebody else is answering it */
  again?: boolean | undefined;
  /** who answers; default: the only agent that is known here */
  agent?: string | undefined;
  /** the id of the message to answer; default: that of message */
  anchor?: string | undefined;
  /**
   * IANA name of the zone of who asks, in which the question's own date and time are shown; default:
   * zone, else the asker's own where it is known
   */
  asker_zone?: string | undefined;
  /** ids of files that the model is given with this turn */
  attach?: string[] | undefined;
  /** in tokens */
  budget?: number | Budget | undefined;
  /** its id, or an object; required, unless there is a conversation */
  channel?: string | ContextBodyChannel2 | undefined;
  /** the id of a conversation; default: the one that the anchor belongs to */
  conversation?: string | undefined;
  /** o200k, bytes4, or either times a factor, such as o200k*1.15 */
  counter?: string | null | undefined;
  /**
   * false: the model can be given no files; the prompt has none and its guide promises none; default:
   * true
   */
  files?: boolean | null | undefined;
  /**
   * with open: seconds for which the turn is held unless it is renewed; default: as long as turns can be
   * committed, which is 15 minutes unless the operator says otherwise
   */
  hold?: number | undefined;
  /** the operator's own system text */
  instructions?: string | null | undefined;
  /**
   * false: the answer has no ledger, which is most of it; GET /v1/turns/{id} has that of a committed
   * turn; default: true
   */
  ledger?: boolean | null | undefined;
  /** a message that is recorded first */
  message?: Message | undefined;
  /** false: the answer has no next; default: true */
  next?: boolean | null | undefined;
  /** open a turn, to be committed with the reply */
  open?: boolean | undefined;
  /** the platform, where several have a channel with this id */
  platform?: string | undefined;
  /** default: the sidecar's, which is standard */
  policy?: string | Record<string, unknown> | undefined;
  /** also return the messages that the prompt shows, as people cite them */
  sources?: boolean | undefined;
  /** what the anchor is read as saying */
  text?: string | undefined;
  /** also return the tools' descriptions for a model */
  tools?: boolean | undefined;
  /** the workspace's id, where several have a channel with this id */
  workspace?: string | undefined;
  /** IANA name of the zone of the times that are shown; a session goes on in the zone that it began in */
  zone?: string | undefined;
}

export interface ContextBodyChannel2 {
  /** the channel's id on its platform */
  id: string;
  platform?: string | undefined;
  workspace?: string | undefined;
}

export interface Conversation {
  attached?: Attached[] | undefined;
  cursor?: number | null | undefined;
  epoch?: number | null | undefined;
  form?: string | null | undefined;
  names?: Named[] | undefined;
  processed?: string | null | undefined;
  session?: Entry[] | undefined;
  shown?: Shown[] | undefined;
  summary?: Summary | undefined;
  turns?: Turn[] | undefined;
}

export interface ConversationData {
  conversation: ChatConversation;
}

export interface ConversationDataEnvelope {
  data: ConversationData;
  success: boolean;
}

export interface ConversationsData {
  /** the newest first */
  conversations: ChatConversation[];
  /** whether there may be older ones */
  has_more: boolean;
  /** of the page with older ones */
  next_cursor?: string | undefined;
}

export interface ConversationsDataEnvelope {
  data: ConversationsData;
  success: boolean;
}

export interface Coverage {
  from: string | null;
  state: string | null;
  thread: string | null;
  to: string | null;
  why?: string | null | undefined;
}

export interface CoverageBody {
  /** its id, or an object with it; workspace and platform where the id is not enough */
  channel: string | Channel;
  /**
   * in their order: thread is the id of a root, absent for the channel; from is absent from the
   * beginning on, to until now
   */
  coverage: CoverageEntry[];
}

export interface CoverageEntry {
  /** absent: from the beginning */
  from?: string | undefined;
  state: "known" | "missing" | "stale";
  /** the id of its root; absent: the channel itself */
  thread?: string | undefined;
  /** absent: until now */
  to?: string | undefined;
  /** for people; no model sees it */
  why?: string | undefined;
}

export interface Covered {
  channel: string;
  /** what is missing or stale, of threads too */
  missing: CoverageEntry[];
  platform: string;
  workspace: string;
}

export interface CreatedData {
  conversation: ChatConversation;
  created: boolean;
}

export interface CreatedDataEnvelope {
  data: CreatedData;
  success: boolean;
}

export interface DecidedProblem {
  /** as it is stored */
  approval: Approval;
  /** what went wrong, for programs */
  code: string;
  /** what went wrong, for people, with the remedy where there is one */
  detail?: string | undefined;
  /** what is wrong with which field of the request, one sentence each */
  fields?: string[] | undefined;
  /** the HTTP status */
  status: number;
  /** the status in words */
  title: string;
}

export interface Entry {
  call?: string | null | undefined;
  calls?: Call[] | undefined;
  failed?: boolean | null | undefined;
  media?: string[] | undefined;
  opaque?: string | null | undefined;
  role: string | null;
  text?: string | null | undefined;
}

export interface Envelope {
  code: string;
  error: string;
  success: boolean;
}

export interface Erasure {
  author?: string | undefined;
  /** time */
  begun?: string | undefined;
  channel?: string | undefined;
  /** time; absent while it is under way */
  ended?: string | undefined;
  forget?: boolean | undefined;
  /** absent where it was only counted */
  id?: number | undefined;
  platform: string;
  /** what has been removed so far, or would be */
  removed: ErasureCounts;
  workspace: string;
}

export interface ErasureCounts {
  /** deliveries that lost their bytes */
  events: number;
  files: number;
  messages: number;
  names: number;
  /** of agents, because they quote; counted in messages too */
  replies: number;
  revisions: number;
  sessions: number;
  summaries: number;
  /** turns whose texts were removed */
  turns: number;
}

export interface Event {
  /**
   * its id, or an object with it; name, kind, topic and purpose replace what is stored; workspace and
   * platform where the id is not enough
   */
  channel: string | Channel;
  /** the delivery's id, unique within the channel; a reaction without its user needs it */
  id?: string | undefined;
  /** of message and edit; an edit has edited, the time of the revision */
  message?: Message | undefined;
  /** of delete and reaction */
  message_id?: string | undefined;
  reaction?: EventReaction | undefined;
  type: "message" | "edit" | "delete" | "reaction";
}

export interface EventBatch {
  /** in the order in which they happened */
  events: Event[];
}

export interface EventReaction {
  /** 1 where somebody gave it, -1 where they took it back */
  by: 1 | -1;
  /** the emoji's name without colons */
  name: string;
  /**
   * when it happened: of what one person did the later stands, in whatever order it is told; without it,
   * when it is told
   */
  time?: string | undefined;
  /** who: the same person's same emoji counts once, however often it is told; without it, each id counts */
  user?: string | undefined;
}

export interface Feedback {
  author: string;
  author_name?: string | undefined;
  channel: string;
  channel_name: string;
  good: boolean;
  platform: string;
  /** in their words */
  reason?: string | undefined;
  time: string;
  turn: number;
  workspace: string;
}

export interface FeedbackBody {
  /** the id of who thinks so; of a user's token it is its subject */
  author?: string | undefined;
  /** whether they found the answer good */
  good: boolean | null;
  /** in their words */
  reason?: string | undefined;
}

export interface FeedbackListBody {
  feedback: Feedback[];
  /** the cursor of the next page; absent on the last */
  next?: string | undefined;
}

export interface File {
  id?: string | null | undefined;
  name?: string | null | undefined;
  sha256?: string | null | undefined;
  size?: number | null | undefined;
  tokens?: number | null | undefined;
  type?: string | null | undefined;
}

export interface HeldTurn {
  /** the message that is answered */
  anchor: string;
  /** what people were asked for it, the newest first; not in lists */
  approvals?: Approval[] | undefined;
  /** its id */
  channel: string;
  /** its id */
  conversation: string;
  expires: string;
  platform: string;
  /** when its reply was about to be posted */
  posting?: string | undefined;
  /**
   * cancelled: the question was deleted; changed: it was edited since the turn was opened; waiting:
   * people are asked, and nobody holds the turn; decided: they have decided, and whoever opens the
   * question or renews the turn goes on
   */
  state: "open" | "cancelled" | "changed" | "waiting" | "decided" | "expired" | "committed" | "aborted";
  /** its id */
  turn: number;
  workspace: string;
}

export interface HistoryBody {
  /** of discord: what Discord was asked with */
  after?: string | undefined;
  /** of discord: what Discord was asked with */
  before?: string | undefined;
  /**
   * its id, or an object with it; with platform discord also the channel or thread as Discord describes
   * it
   */
  channel: string | Channel;
  /** of messages: they are all that was said since; default: the first of them */
  from?: string | undefined;
  /** of slack: what Slack was asked with; default: now */
  latest?: string | undefined;
  /** of discord: what Discord was asked with, 1 to 100; default: 50 */
  limit?: number | undefined;
  /** in place of page, of any platform */
  messages?: Message[] | undefined;
  /** of slack: what Slack was asked with */
  oldest?: string | undefined;
  /** of slack and discord: the answer of the platform as it came */
  page?: Record<string, unknown> | Record<string, unknown>[] | undefined;
  /** slack or discord with page; default: that of the stored channel, else api */
  platform?: string | undefined;
  /** the id of its root, where this is a thread's history */
  thread?: string | undefined;
  /** of messages: they are all that was said until then; default: now */
  to?: string | undefined;
  /** of messages: nothing was said before them */
  whole?: boolean | undefined;
  /** default: that of the stored channel, else the key's only one */
  workspace?: string | undefined;
}

export interface Hit {
  /** the share of the query's words that it has, by their weights, 0 to 1 */
  cover: number;
  id: string;
  message: Message;
  /** what the score is made of, such as words and recency */
  parts: Record<string, number>;
  /** the sum of parts; comparable within one answer only */
  score: number;
}

export interface HitList {
  /** the best first */
  hits: Hit[];
  /**
   * what is missing or stale of the channel's history between from and to: what was said then may not be
   * found
   */
  missing: CoverageEntry[];
}

export interface Identity {
  aliases?: string[] | undefined;
  id: string | null;
  name: string | null;
}

export interface Input {
  anchor: string | null;
  asked_by?: AskedBy | undefined;
  asker_zone?: string | null | undefined;
  attach?: string[] | undefined;
  budget?: Budget | undefined;
  channel: Channel;
  conversation?: Conversation | undefined;
  counter?: string | null | undefined;
  coverage?: Coverage[] | undefined;
  identity: Identity;
  instructions?: string | null | undefined;
  mentioned?: Mentioned[] | undefined;
  messages: Message[];
  notices?: string[] | undefined;
  policy?: string | Record<string, unknown> | undefined;
  recalled?: Recalled[] | undefined;
  stored?: Stored[] | undefined;
  trust?: Trust | undefined;
  zone?: string | null | undefined;
}

export interface InterruptedTurn {
  id: number;
  /** when it was about to post */
  posting: string;
}

export interface KnownStretch {
  /** absent: from the beginning */
  from?: string | undefined;
  to: string;
}

export interface LedgerRow {
  cover?: number | undefined;
  id: string;
  parts?: Record<string, number> | undefined;
  reason: string;
  score?: number | undefined;
  section: string;
  tokens: number;
  verdict: string;
}

export interface ListBody {
  tools: ToolInfo[];
}

export interface ListedTurn {
  agent: string;
  /** the message that is answered */
  anchor: string;
  channel: Channel;
  /** the conversation's id */
  conversation: string;
  /** the session's number in its conversation */
  epoch: number;
  /** of a turn that was opened by a caller: until when it can be committed */
  expires?: string | undefined;
  /** of the prompt */
  hash?: string | undefined;
  id: number;
  /** time */
  opened: string;
  /**
   * open, claimed, generating, posting, done, failed, parked, dropped or refused; of a turn that was
   * opened by a caller open, expired or aborted until it is committed
   */
  state: string;
  /** time */
  updated?: string | undefined;
  /** the cause of the state */
  why?: string | undefined;
}

export interface MediaJSON {
  data: string;
  id: string;
  name: string;
  /** its media type */
  type: string;
}

export interface Mentioned {
  full_name?: string | null | undefined;
  id: string | null;
  name: string | null;
}

export interface Message {
  author: Author;
  deleted?: boolean | null | undefined;
  edited?: string | null | undefined;
  files?: File[] | undefined;
  id: string | null;
  mentions?: string[] | undefined;
  /**
   * Keys match [a-z][a-z0-9_]{0,63}; at most 64 keys and 16 KiB in all, and in a value 8 arrays and
   * objects in one another.
   */
  metadata?: Record<string, string | number | boolean | unknown[] | Record<string, unknown>> | undefined;
  reactions?: Reaction[] | undefined;
  replies?: Replies | undefined;
  reply_to?: string | null | undefined;
  seq?: number | null | undefined;
  shared?: Shared[] | undefined;
  subject?: Subject | undefined;
  text: string | null;
  thread?: string | null | undefined;
  time: string | null;
  tokens?: number | null | undefined;
}

export interface MessageData {
  /** false: it was there, or was edited */
  created: boolean;
  message: ChatMessage;
}

export interface MessageDataEnvelope {
  data: MessageData;
  success: boolean;
}

export interface MessageInfo {
  message: Message;
  /** the oldest first, the current one last */
  revisions?: Message[] | undefined;
}

export interface MessagePage {
  /** in the order in which they were said */
  messages: Message[];
  /**
   * what is missing or stale of the channel's history in the time of the page: nothing, or not all, is
   * known of it
   */
  missing: CoverageEntry[];
  /** the cursor of the next page, with older ones; absent on the last */
  next?: string | undefined;
}

export interface MessagesData {
  /** whether there are older ones */
  has_more: boolean;
  /** oldest first */
  messages: ChatMessage[];
  /** of the page with older ones */
  next_cursor?: string | undefined;
}

export interface MessagesDataEnvelope {
  data: MessagesData;
  success: boolean;
}

export interface MetadataPatch {
  /**
   * Keys match [a-z][a-z0-9_]{0,63}; at most 64 keys and 16 KiB in all, and in a value 8 arrays and
   * objects in one another. last_processed_ts is a Slack ts that only moves forward.
   */
  metadata: Record<string, string | number | boolean | unknown[] | Record<string, unknown> | null>;
}

export interface Named {
  id: string | null;
  name: string | null;
}

export interface NewChatMessage {
  /** of a user's message; default: the conversation's owner */
  author?: ChatAuthor | undefined;
  /**
   * what is said; required, here or as text, of a message without metadata. Left out, the text of a
   * stored message stays
   */
  content?: string | null | undefined;
  /**
   * when it was said, RFC 3339 or a Slack ts; default: now, or what a Slack message_id says. An edit
   * keeps the first one's
   */
  created_at?: string | null | undefined;
  /** unique in the channel; one is made where there is none */
  message_id?: string | null | undefined;
  /**
   * kept with the message and shown in no prompt; they replace those of a stored message, and left out
   * they stay
   */
  metadata?: Record<string, string | number | boolean | unknown[] | Record<string, unknown>> | undefined;
  /** assistant is the conversation's agent */
  role: "user" | "assistant" | null;
  /** another name of content */
  text?: string | null | undefined;
}

export interface NewConversation {
  /** the agent whose conversation it is */
  agent_id: string | null;
  /** the kind of program that creates it, such as slack */
  client_type: string | null;
  /** unique for the agent and the workspace: the same key again returns the same conversation */
  idempotency_key?: string | null | undefined;
  /**
   * Keys match [a-z][a-z0-9_]{0,63}; at most 64 keys and 16 KiB in all, and in a value 8 arrays and
   * objects in one another. last_processed_ts is a Slack ts that only moves forward.
   */
  metadata?: Record<string, string | number | boolean | unknown[] | Record<string, unknown> | null> | undefined;
  /** whose it is; a user's is always the user's own */
  owner_id?: string | null | undefined;
  tags?: string[] | undefined;
  /** for people; it is in no prompt */
  title: string | null;
}

export interface Next {
  attached: Attached[];
  cursor: number;
  epoch: number;
  names: Named[];
  shown: Shown[];
}

export interface NextPage {
  /** of Discord */
  after?: string | undefined;
  /** of Discord */
  before?: string | undefined;
  /** of conversations.history */
  latest?: string | undefined;
  /** of conversations.replies */
  oldest?: string | undefined;
}

export interface Note {
  kind: string;
  text: string;
}

export interface OpenTurn {
  /**
   * what an earlier turn for this question asked people, and how they decided, the newest first: go on
   * with what was agreed to
   */
  approvals?: Approval[] | undefined;
  /** until when it holds the claim and can be committed; POST /v1/turns/{id}/renew moves it */
  expires: string;
  id: number;
  /**
   * an earlier turn for this question whose holder was about to post and was not heard of again: its
   * reply may be visible; look for it by the key before you post
   */
  interrupted?: InterruptedTurn | undefined;
  /**
   * an idempotency key for posting the reply: the same for every turn for this question until it is
   * answered; 24 characters
   */
  key: string;
}

export interface OpenTurnsOutputBody {
  turns: HeldTurn[];
}

export interface Problem {
  /** what went wrong, for programs */
  code: string;
  /** what went wrong, for people, with the remedy where there is one */
  detail?: string | undefined;
  /** what is wrong with which field of the request, one sentence each */
  fields?: string[] | undefined;
  /** the HTTP status */
  status: number;
  /** the status in words */
  title: string;
}

export interface PromptFile {
  id: string;
  /** a message that shares it */
  message?: string | undefined;
  name?: string | undefined;
  sha256?: string | undefined;
  size?: number | undefined;
  /** its content is kept: GET /v1/files/{file}; else PUT gives it */
  stored: boolean;
  type?: string | undefined;
}

export interface PromptJSON {
  messages: ResultMessage[];
  system: string;
}

export interface Reaction {
  by?: Reactor[] | undefined;
  count: number | null;
  name: string | null;
}

export interface Reactor {
  id: string | null;
  name?: string | null | undefined;
}

export interface Recalled {
  cover?: number | null | undefined;
  id: string | null;
  parts?: Record<string, number> | undefined;
  score?: number | null | undefined;
}

export interface RenewBody {
  /** seconds from now; default: as when the turn was opened */
  hold?: number | undefined;
  /** the reply is about to be posted */
  posting?: boolean | undefined;
  /** seconds to wait for something to happen; default: none */
  wait?: number | undefined;
}

export interface Replies {
  count?: number | null | undefined;
  last?: string | null | undefined;
  last_hour?: number | null | undefined;
}

export interface ReplyJSON {
  /**
   * the id of the message that it became; it is recorded as the agent's. Several messages are given as
   * parts
   */
  ids?: string[] | undefined;
  /** the messages that it became, where these are several */
  parts?: ReplyPart[] | undefined;
  /** which message it replies to by reference; with thread */
  reply_to?: string | null | undefined;
  /** as people see it */
  text: string;
  /**
   * in which thread it stands, or an empty string for none; default: where answers in this conversation
   * belong
   */
  thread?: string | null | undefined;
  /** of the message; default: now */
  time?: string | null | undefined;
}

export interface ReplyPart {
  id: string;
  text: string;
  time?: string | null | undefined;
}

export interface Result {
  hash: string;
  ledger: LedgerRow[];
  messages: ResultMessage[];
  next: Next;
  notes: Note[];
  system: string;
  tokens: ResultTokens;
}

export interface ResultMessage {
  call?: string | undefined;
  calls?: Call[] | undefined;
  failed?: boolean | undefined;
  media: string[];
  opaque?: string | undefined;
  role: string;
  sections: string[];
  text: string;
}

export interface ResultTokens {
  budget: number;
  counter: string;
  sections: Record<string, number>;
  total: number;
}

export interface Shared {
  author?: string | null | undefined;
  author_id?: string | null | undefined;
  kind: string | null;
  place?: string | null | undefined;
  text?: string | null | undefined;
  time?: string | null | undefined;
  trust?: string | null | undefined;
}

export interface Shown {
  id: string | null;
  revision: string | null;
}

export interface SourceAuthor {
  id: string;
  /** human, bot or system */
  kind?: string | undefined;
  /** as the prompt has it */
  name: string;
}

export interface SourceJSON {
  author: SourceAuthor;
  id: string;
  /**
   * the part of the prompt that shows it, such as thread or recall; empty where an earlier turn has
   * shown it
   */
  section: string;
  /** what it says, at most 200 characters of it */
  text: string;
  /** the id of its thread's root */
  thread?: string | undefined;
  time: string;
}

export interface Stored {
  count: number | null;
  from?: string | null | undefined;
  thread: string | null;
  to?: string | null | undefined;
}

export interface StoredAuthors {
  /** how many */
  stored: number;
}

export interface StoredChannels {
  /** how many */
  stored: number;
}

export interface StoredFile {
  id: string;
  /** of the file as it was shared */
  sha256: string;
  /** of what models are given, in bytes */
  size: number;
  /** media type of what models are given */
  type: string;
}

export interface StoredReply {
  /** of its messages */
  ids: string[];
  /** as far as it is stored */
  text: string;
  usage: UsageJSON;
}

export interface Subject {
  name?: string | null | undefined;
  post?: boolean | null | undefined;
  tags?: string[] | undefined;
}

export interface Summary {
  by?: string | null | undefined;
  from?: string | null | undefined;
  text: string | null;
  to?: string | null | undefined;
  turns?: number | null | undefined;
}

export interface Thread {
  /** the root's */
  id: string;
  /** the cursor of the next page, with older replies; absent on the last */
  next?: string | undefined;
  /** in the order in which they were said */
  replies: Message[];
  /** absent where it was deleted or is not stored */
  root?: Message | undefined;
  /** how many replies are stored */
  total: number;
}

export interface ToldEvent {
  /**
   * what has come of it: late is an older revision than the stored one, conflict another text for the
   * stored revision, which stays, unknown a reaction to a message that is not stored, which counts if
   * the message comes within a day, ignored a raw event that says nothing that is kept
   */
  change: "new" | "edited" | "updated" | "gone" | "late" | "same" | "conflict" | "unknown" | "ignored";
  channel?: string | undefined;
  /** of conflict: what to do */
  detail?: string | undefined;
  /** its id */
  message?: string | undefined;
  platform?: string | undefined;
  /** the message's sequence in its channel */
  seq?: number | undefined;
  workspace?: string | undefined;
}

export interface ToldEvents {
  /** one for each event, in their order */
  events: ToldEvent[];
}

export interface ToldHistory {
  channel: string;
  /** the time that is known by it; absent where none is, as by an empty page of which there is more */
  known?: KnownStretch | undefined;
  /** how many were told */
  messages: number;
  /** what is still missing or stale of the thread, or of the channel's own history */
  missing: CoverageEntry[];
  /** how many of them were not stored yet */
  new: number;
  /** with what to ask the platform for the next page; absent where this was the last */
  next?: NextPage | undefined;
  platform: string;
  thread?: string | undefined;
  workspace: string;
}

export interface ToolAnswer {
  /** give it to the model as it is */
  answer: Record<string, unknown>;
  /** the call was refused; the answer says why */
  failed: boolean;
  /** the content of a file that the model has asked for; give it with the answer */
  media?: MediaJSON[] | undefined;
  /** ids of the messages whose text is in the answer */
  messages: string[];
}

export interface ToolInfo {
  description: string;
  /** the JSON Schema of the tool's arguments */
  input_schema: Record<string, unknown>;
  name: string;
}

export interface TotalStruct {
  cache_read: number;
  cache_write: number;
  /** tokens not read from the cache */
  input: number;
  output: number;
  turns: number;
}

export interface Trust {
  bots?: string | null | undefined;
  external?: string | null | undefined;
  guest?: string | null | undefined;
  not_allowed?: string | null | undefined;
}

export interface Turn {
  anchor: string | null;
  reply_ids: string[];
}

export interface TurnsOutputBody {
  /** the cursor of the next page; absent on the last */
  next?: string | undefined;
  turns: ListedTurn[];
}

export interface UsageCounts {
  cache_read: number;
  cache_write: number;
  /** tokens not read from the cache */
  input: number;
  output: number;
}

export interface UsageJSON {
  cache_read?: number | undefined;
  cache_write?: number | undefined;
  /** not read from the cache */
  input?: number | undefined;
  output?: number | undefined;
}

export interface UsageOutputBody {
  total: TotalStruct;
  usage: UsageRow[];
}

export interface UsageRow {
  agent: string;
  cache_read: number;
  cache_write: number;
  channel: Channel;
  /** tokens not read from the cache */
  input: number;
  output: number;
  policy: string;
  turns: number;
}

export interface WaitBody {
  /** to wait for the decision; default: none */
  seconds?: number | undefined;
}

export interface WholeTurn {
  agent: string;
  /** the message that is answered */
  anchor: string;
  /** why a new session began with this turn */
  began?: string | undefined;
  channel: Channel;
  /** the conversation's id */
  conversation: string;
  /** up to which sequence the conversation was considered */
  cursor?: number | undefined;
  /** the session's number in its conversation */
  epoch: number;
  /** of a turn that was opened by a caller: until when it can be committed */
  expires?: string | undefined;
  /** of the prompt */
  hash?: string | undefined;
  id: number;
  /** for each message that was considered: its section, verdict, reason and tokens */
  ledger: LedgerRow[];
  /** time */
  opened: string;
  policy?: string | undefined;
  /** what the model was sent, made again; absent where something of it was erased */
  prompt?: PromptJSON | undefined;
  /** the message that is answered; absent where it was deleted */
  question?: Message | undefined;
  /** the reply as the session has it */
  reply?: string | undefined;
  /** what the reply became on the platform, as far as that is known */
  reply_ids: string[];
  /**
   * open, claimed, generating, posting, done, failed, parked, dropped or refused; of a turn that was
   * opened by a caller open, expired or aborted until it is committed
   */
  state: string;
  /** time */
  updated?: string | undefined;
  usage?: UsageCounts | undefined;
  /** the cause of the state */
  why?: string | undefined;
}

/** One method for each operation of the API. */
export class Operations {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** A page of an agent's conversations, the newest first: GET /api/chat/conversations. */
  listConversations(options: {
    /** whose conversations; required */
    agentId?: string | undefined;
    /** in this channel only */
    channelId?: string | undefined;
    /** the next_cursor of a page, for the page with older conversations */
    cursor?: string | undefined;
    limit?: number | undefined;
    /** of this owner only */
    ownerId?: string | undefined;
    /** on this platform only; api for those without a channel */
    platform?: string | undefined;
    /** in this workspace only */
    workspaceId?: string | undefined;
  } & CallOptions = {}): Promise<ConversationsDataEnvelope> {
    return this.#transport.call<ConversationsDataEnvelope>({ method: "GET", path: "/api/chat/conversations", query: { agent_id: options.agentId, channel_id: options.channelId, cursor: options.cursor, limit: options.limit, owner_id: options.ownerId, platform: options.platform, workspace_id: options.workspaceId }, again: true }, options);
  }

  /** Create a conversation, once for each idempotency key: POST /api/chat/conversations. */
  createConversation(body: NewConversation, options: CallOptions = {}): Promise<CreatedDataEnvelope> {
    return this.#transport.call<CreatedDataEnvelope>({ method: "POST", path: "/api/chat/conversations", body }, options);
  }

  /** A conversation: GET /api/chat/conversations/{id}. */
  getConversation(id: string, options: CallOptions = {}): Promise<ConversationDataEnvelope> {
    return this.#transport.call<ConversationDataEnvelope>({ method: "GET", path: `/api/chat/conversations/${encodeURIComponent(id)}`, again: true }, options);
  }

  /** A page of a conversation's messages, oldest first: GET /api/chat/conversations/{id}/messages. */
  listConversationMessages(id: string, options: {
    /** the next_cursor of a page, for the page with older messages */
    cursor?: string | undefined;
    limit?: number | undefined;
  } & CallOptions = {}): Promise<MessagesDataEnvelope> {
    return this.#transport.call<MessagesDataEnvelope>({ method: "GET", path: `/api/chat/conversations/${encodeURIComponent(id)}/messages`, query: { cursor: options.cursor, limit: options.limit }, again: true }, options);
  }

  /**
   * Record a message of a conversation, once for each message_id: POST
   * /api/chat/conversations/{id}/messages.
   */
  postConversationMessage(id: string, body: NewChatMessage, options: CallOptions = {}): Promise<MessageDataEnvelope> {
    return this.#transport.call<MessageDataEnvelope>({ method: "POST", path: `/api/chat/conversations/${encodeURIComponent(id)}/messages`, body }, options);
  }

  /** Merge metadata into a conversation's, in one step: PATCH /api/chat/conversations/{id}/metadata. */
  mergeConversationMetadata(id: string, body: MetadataPatch, options: CallOptions = {}): Promise<ConversationDataEnvelope> {
    return this.#transport.call<ConversationDataEnvelope>({ method: "PATCH", path: `/api/chat/conversations/${encodeURIComponent(id)}/metadata`, body, again: true }, options);
  }

  /** The agents that the key reaches: GET /v1/agents. */
  listAgents(options: CallOptions = {}): Promise<AgentList> {
    return this.#transport.call<AgentList>({ method: "GET", path: "/v1/agents", again: true }, options);
  }

  /** Say who an agent is: PUT /v1/agents/{id}. */
  putAgent(id: string, body: AgentBody, options: CallOptions = {}): Promise<AgentInfo> {
    return this.#transport.call<AgentInfo>({ method: "PUT", path: `/v1/agents/${encodeURIComponent(id)}`, body, again: true }, options);
  }

  /** What people were asked before a tool acted, newest first: GET /v1/approvals. */
  listApprovals(options: {
    /** of one channel */
    channel?: string | undefined;
    /** from the page before */
    cursor?: string | undefined;
    limit?: number | undefined;
    /** where several have a channel with this id */
    platform?: string | undefined;
    /** one or several, with commas between them */
    state?: ("open" | "agreed" | "refused" | "expired" | "withdrawn")[] | undefined;
    /** of one turn */
    turn?: number | undefined;
    /** where several have a channel with this id */
    workspace?: string | undefined;
  } & CallOptions = {}): Promise<ApprovalsOutputBody> {
    return this.#transport.call<ApprovalsOutputBody>({ method: "GET", path: "/v1/approvals", query: { channel: options.channel, cursor: options.cursor, limit: options.limit, platform: options.platform, state: options.state?.join(), turn: options.turn, workspace: options.workspace }, again: true }, options);
  }

  /** One approval: GET /v1/approvals/{id}. */
  getApproval(id: string, options: CallOptions = {}): Promise<Approval> {
    return this.#transport.call<Approval>({ method: "GET", path: `/v1/approvals/${encodeURIComponent(id)}`, again: true }, options);
  }

  /** Agree to a call of a tool, or refuse it; or note what came of it: POST /v1/approvals/{id}. */
  decideApproval(id: string, body: ApprovalBody, options: CallOptions = {}): Promise<Approval> {
    return this.#transport.call<Approval>({ method: "POST", path: `/v1/approvals/${encodeURIComponent(id)}`, body }, options);
  }

  /** Prompt and ledger of an input, without the store: POST /v1/assemble. */
  assemble(body: Input, options: CallOptions = {}): Promise<Result> {
    return this.#transport.call<Result>({ method: "POST", path: "/v1/assemble", body, again: true }, options);
  }

  /** Say who authors are: names, kinds, time zones: PUT /v1/authors. */
  putAuthors(body: AuthorsBody, options: CallOptions = {}): Promise<StoredAuthors> {
    return this.#transport.call<StoredAuthors>({ method: "PUT", path: "/v1/authors", body, again: true }, options);
  }

  /** Erase what a person said: DELETE /v1/authors/{id}. */
  eraseAuthor(id: string, options: {
    /** in this channel only */
    channel?: string | undefined;
    /** count what would be removed, and remove nothing */
    dryRun?: boolean | undefined;
    /** what they say later is not recorded either */
    forget?: boolean | undefined;
    /** default: the only one on which the workspace's id is known */
    platform?: string | undefined;
    /** default: the key's only one */
    workspace?: string | undefined;
  } & CallOptions = {}): Promise<Erasure> {
    return this.#transport.call<Erasure>({ method: "DELETE", path: `/v1/authors/${encodeURIComponent(id)}`, query: { channel: options.channel, dry_run: options.dryRun, forget: options.forget, platform: options.platform, workspace: options.workspace }, again: true }, options);
  }

  /** A token for the tools of one channel: POST /v1/capabilities. */
  makeCapability(body: CapabilityBody, options: CallOptions = {}): Promise<CapabilityAnswer> {
    return this.#transport.call<CapabilityAnswer>({ method: "POST", path: "/v1/capabilities", body }, options);
  }

  /** The channels that the key reaches: GET /v1/channels. */
  listChannels(options: {
    /** from the page before */
    cursor?: string | undefined;
    limit?: number | undefined;
  } & CallOptions = {}): Promise<ChannelPage> {
    return this.#transport.call<ChannelPage>({ method: "GET", path: "/v1/channels", query: { cursor: options.cursor, limit: options.limit }, again: true }, options);
  }

  /** Say what channels are: PUT /v1/channels. */
  putChannels(body: ChannelsBody, options: CallOptions = {}): Promise<StoredChannels> {
    return this.#transport.call<StoredChannels>({ method: "PUT", path: "/v1/channels", body, again: true }, options);
  }

  /** Erase a channel: DELETE /v1/channels/{channel}. */
  eraseChannel(channel: string, options: {
    /** count what would be removed, and remove nothing */
    dryRun?: boolean | undefined;
    /** the platform, where several have a channel with this id */
    platform?: string | undefined;
    /** the workspace's id, where several have a channel with this id */
    workspace?: string | undefined;
  } & CallOptions = {}): Promise<Erasure> {
    return this.#transport.call<Erasure>({ method: "DELETE", path: `/v1/channels/${encodeURIComponent(channel)}`, query: { dry_run: options.dryRun, platform: options.platform, workspace: options.workspace }, again: true }, options);
  }

  /** One channel, and how much of it is stored: GET /v1/channels/{channel}. */
  getChannel(channel: string, options: {
    /** the platform, where several have a channel with this id */
    platform?: string | undefined;
    /** the workspace's id, where several have a channel with this id */
    workspace?: string | undefined;
  } & CallOptions = {}): Promise<ChannelInfo> {
    return this.#transport.call<ChannelInfo>({ method: "GET", path: `/v1/channels/${encodeURIComponent(channel)}`, query: { platform: options.platform, workspace: options.workspace }, again: true }, options);
  }

  /** Say what a channel is: PUT /v1/channels/{channel}. */
  putChannel(channel: string, body: ChannelBody, options: CallOptions = {}): Promise<Channel> {
    return this.#transport.call<Channel>({ method: "PUT", path: `/v1/channels/${encodeURIComponent(channel)}`, body, again: true }, options);
  }

  /** What is missing of a channel, or of a thread: GET /v1/channels/{channel}/coverage. */
  getCoverage(channel: string, options: {
    /** the platform, where several have a channel with this id */
    platform?: string | undefined;
    /** the id of its root */
    thread?: string | undefined;
    /** the workspace's id, where several have a channel with this id */
    workspace?: string | undefined;
  } & CallOptions = {}): Promise<Covered> {
    return this.#transport.call<Covered>({ method: "GET", path: `/v1/channels/${encodeURIComponent(channel)}/coverage`, query: { platform: options.platform, thread: options.thread, workspace: options.workspace }, again: true }, options);
  }

  /** Messages of a channel, the newest page first: GET /v1/channels/{channel}/messages. */
  listMessages(channel: string, options: {
    /** said after this time */
    after?: string | undefined;
    /** said before this time (RFC 3339, or a Slack ts) */
    before?: string | undefined;
    /** from the page before; it goes on with older messages, and stands in before's place */
    cursor?: string | undefined;
    limit?: number | undefined;
    /** the platform, where several have a channel with this id */
    platform?: string | undefined;
    /** the workspace's id, where several have a channel with this id */
    workspace?: string | undefined;
  } & CallOptions = {}): Promise<MessagePage> {
    return this.#transport.call<MessagePage>({ method: "GET", path: `/v1/channels/${encodeURIComponent(channel)}/messages`, query: { after: options.after, before: options.before, cursor: options.cursor, limit: options.limit, platform: options.platform, workspace: options.workspace }, again: true }, options);
  }

  /** Delete a message: DELETE /v1/channels/{channel}/messages/{id}. */
  deleteMessage(channel: string, id: string, options: {
    /** the platform, where several have a channel with this id */
    platform?: string | undefined;
    /** the workspace's id, where several have a channel with this id */
    workspace?: string | undefined;
  } & CallOptions = {}): Promise<void> {
    return this.#transport.call<void>({ method: "DELETE", path: `/v1/channels/${encodeURIComponent(channel)}/messages/${encodeURIComponent(id)}`, query: { platform: options.platform, workspace: options.workspace }, again: true }, options);
  }

  /** One message: GET /v1/channels/{channel}/messages/{id}. */
  getMessage(channel: string, id: string, options: {
    /** the platform, where several have a channel with this id */
    platform?: string | undefined;
    /** also return all revisions that are stored */
    revisions?: boolean | undefined;
    /** the workspace's id, where several have a channel with this id */
    workspace?: string | undefined;
  } & CallOptions = {}): Promise<MessageInfo> {
    return this.#transport.call<MessageInfo>({ method: "GET", path: `/v1/channels/${encodeURIComponent(channel)}/messages/${encodeURIComponent(id)}`, query: { platform: options.platform, revisions: options.revisions, workspace: options.workspace }, again: true }, options);
  }

  /** Search a channel: GET /v1/channels/{channel}/search. */
  searchChannel(channel: string, options: {
    /** only what these authors said, by id; may be given several times */
    author?: string[] | undefined;
    /** said at this time or later (RFC 3339, or a Slack ts) */
    from?: string | undefined;
    limit?: number | undefined;
    /** the platform, where several have a channel with this id */
    platform?: string | undefined;
    /** words, or a part in double quotes; a message's id finds the message */
    q?: string | undefined;
    /** said at this time or before */
    to?: string | undefined;
    /** the workspace's id, where several have a channel with this id */
    workspace?: string | undefined;
  } & CallOptions = {}): Promise<HitList> {
    return this.#transport.call<HitList>({ method: "GET", path: `/v1/channels/${encodeURIComponent(channel)}/search`, query: { author: options.author, from: options.from, limit: options.limit, platform: options.platform, q: options.q, to: options.to, workspace: options.workspace }, again: true }, options);
  }

  /** A thread: its root and the newest replies: GET /v1/channels/{channel}/threads/{id}. */
  getThread(channel: string, id: string, options: {
    /** from the page before; it goes on with older replies */
    cursor?: string | undefined;
    limit?: number | undefined;
    /** the platform, where several have a channel with this id */
    platform?: string | undefined;
    /** the workspace's id, where several have a channel with this id */
    workspace?: string | undefined;
  } & CallOptions = {}): Promise<Thread> {
    return this.#transport.call<Thread>({ method: "GET", path: `/v1/channels/${encodeURIComponent(channel)}/threads/${encodeURIComponent(id)}`, query: { cursor: options.cursor, limit: options.limit, platform: options.platform, workspace: options.workspace }, again: true }, options);
  }

  /** The context of a message: prompt, ledger, tokens, next: POST /v1/context. */
  makeContext(body: ContextBody, options: {
    /** with open: by which a repeated request is known as the same */
    idempotencyKey?: string | undefined;
  } & CallOptions = {}): Promise<ContextAnswer> {
    return this.#transport.call<ContextAnswer>({ method: "POST", path: "/v1/context", headers: { "Idempotency-Key": options.idempotencyKey }, body, again: true }, options);
  }

  /** Say what is known of a channel or a thread, and what is not: POST /v1/coverage. */
  postCoverage(body: CoverageBody, options: CallOptions = {}): Promise<Covered> {
    return this.#transport.call<Covered>({ method: "POST", path: "/v1/coverage", body, again: true }, options);
  }

  /** How far an erasure has come: GET /v1/erasures/{id}. */
  getErasure(id: number, options: CallOptions = {}): Promise<Erasure> {
    return this.#transport.call<Erasure>({ method: "GET", path: `/v1/erasures/${encodeURIComponent(id)}`, again: true }, options);
  }

  /** Tell what was said: messages, edits, deletions, reactions: POST /v1/events. */
  postEvents(body: EventBatch | Event | Record<string, unknown>, options: {
    /** slack or discord, where the events are raw deliveries of Slack or Discord */
    platform?: string | undefined;
  } & CallOptions = {}): Promise<ToldEvents> {
    return this.#transport.call<ToldEvents>({ method: "POST", path: "/v1/events", query: { platform: options.platform }, body, again: true }, options);
  }

  /** What people think of answers, of the newest turns first: GET /v1/feedback. */
  listFeedback(options: {
    /** of one channel */
    channel?: string | undefined;
    /** from the page before */
    cursor?: string | undefined;
    /** only of those who think so */
    good?: "true" | "false" | undefined;
    limit?: number | undefined;
    /** where several have a channel with this id */
    platform?: string | undefined;
    /** of one turn */
    turn?: number | undefined;
    /** where several have a channel with this id */
    workspace?: string | undefined;
  } & CallOptions = {}): Promise<FeedbackListBody> {
    return this.#transport.call<FeedbackListBody>({ method: "GET", path: "/v1/feedback", query: { channel: options.channel, cursor: options.cursor, good: options.good, limit: options.limit, platform: options.platform, turn: options.turn, workspace: options.workspace }, again: true }, options);
  }

  /** The content of a file, as models are given it: GET /v1/files/{file}. */
  getFile(file: string, options: {
    /** the channel's id on its platform */
    channel: string;
    /** the platform, where several have a channel with this id */
    platform?: string | undefined;
    /** the workspace's id, where several have a channel with this id */
    workspace?: string | undefined;
  } & CallOptions): Promise<Uint8Array> {
    return this.#transport.call<Uint8Array>({ method: "GET", path: `/v1/files/${encodeURIComponent(file)}`, query: { channel: options.channel, platform: options.platform, workspace: options.workspace }, again: true }, options);
  }

  /** Give the content of a file that a message shares: PUT /v1/files/{file}. */
  putFile(file: string, body: Uint8Array, options: {
    /** the file's media type */
    contentType?: string | undefined;
    /** the channel's id on its platform */
    channel: string;
    /** the id of a message that shares the file */
    message: string;
    /** the platform, where several have a channel with this id */
    platform?: string | undefined;
    /** the workspace's id, where several have a channel with this id */
    workspace?: string | undefined;
  } & CallOptions): Promise<StoredFile> {
    return this.#transport.call<StoredFile>({ method: "PUT", path: `/v1/files/${encodeURIComponent(file)}`, query: { channel: options.channel, message: options.message, platform: options.platform, workspace: options.workspace }, headers: { "Content-Type": options.contentType }, body, again: true }, options);
  }

  /** Tell what was said before: pages of Slack's or Discord's history, or messages: POST /v1/history. */
  postHistory(body: HistoryBody, options: CallOptions = {}): Promise<ToldHistory> {
    return this.#transport.call<ToldHistory>({ method: "POST", path: "/v1/history", body, again: true }, options);
  }

  /** Who calls: the key, what it reaches and may do: GET /v1/me. */
  getMe(options: CallOptions = {}): Promise<CallerInfo> {
    return this.#transport.call<CallerInfo>({ method: "GET", path: "/v1/me", again: true }, options);
  }

  /** The tools, described for a model: GET /v1/tools. */
  listTools(options: CallOptions = {}): Promise<ListBody> {
    return this.#transport.call<ListBody>({ method: "GET", path: "/v1/tools", again: true }, options);
  }

  /** Call a tool of the one channel that the caller is for: POST /v1/tools/{name}. */
  callTool(name: string, body: Record<string, unknown>, options: CallOptions = {}): Promise<ToolAnswer> {
    return this.#transport.call<ToolAnswer>({ method: "POST", path: `/v1/tools/${encodeURIComponent(name)}`, body, again: true }, options);
  }

  /** Turns, newest first: GET /v1/turns. */
  listTurns(options: {
    agent?: string | undefined;
    /** turns of one channel */
    channel?: string | undefined;
    /** from the page before */
    cursor?: string | undefined;
    limit?: number | undefined;
    /** where several have a channel with this id */
    platform?: string | undefined;
    /** one or several, with commas between them */
    state?: ("open" | "claimed" | "generating" | "posting" | "done" | "failed" | "parked" | "dropped" | "refused")[] | undefined;
    /** where several have a channel with this id */
    workspace?: string | undefined;
  } & CallOptions = {}): Promise<TurnsOutputBody> {
    return this.#transport.call<TurnsOutputBody>({ method: "GET", path: "/v1/turns", query: { agent: options.agent, channel: options.channel, cursor: options.cursor, limit: options.limit, platform: options.platform, state: options.state?.join(), workspace: options.workspace }, again: true }, options);
  }

  /** Turns as they change, as server-sent events: GET /v1/turns/events. */
  streamTurns(options: {
    /** the id of the last event that was read */
    lastEventId?: number | undefined;
    /** turns of one channel */
    channel?: string | undefined;
    /** where several have a channel with this id */
    platform?: string | undefined;
    /** where several have a channel with this id */
    workspace?: string | undefined;
  } & CallOptions = {}): AsyncIterable<ServerEvent> {
    return this.#transport.stream({ method: "GET", path: "/v1/turns/events", query: { channel: options.channel, platform: options.platform, workspace: options.workspace }, headers: { "Last-Event-ID": options.lastEventId }, again: true }, options);
  }

  /** The turns that this key has opened and not ended: GET /v1/turns/open. */
  listOpenTurns(options: CallOptions = {}): Promise<OpenTurnsOutputBody> {
    return this.#transport.call<OpenTurnsOutputBody>({ method: "GET", path: "/v1/turns/open", again: true }, options);
  }

  /** One turn: what was asked, what the model saw and why, what it cost: GET /v1/turns/{id}. */
  getTurn(id: number, options: {
    /** make the prompt again */
    prompt?: boolean | undefined;
  } & CallOptions = {}): Promise<WholeTurn> {
    return this.#transport.call<WholeTurn>({ method: "GET", path: `/v1/turns/${encodeURIComponent(id)}`, query: { prompt: options.prompt }, again: true }, options);
  }

  /** End an open turn without a reply: POST /v1/turns/{id}/abort. */
  abortTurn(id: string, options: CallOptions = {}): Promise<AbortedTurn> {
    return this.#transport.call<AbortedTurn>({ method: "POST", path: `/v1/turns/${encodeURIComponent(id)}/abort`, again: true }, options);
  }

  /** Ask people before an open turn calls a tool: POST /v1/turns/{id}/approvals. */
  askApproval(id: string, body: AskBody, options: CallOptions = {}): Promise<Approval> {
    return this.#transport.call<Approval>({ method: "POST", path: `/v1/turns/${encodeURIComponent(id)}/approvals`, body }, options);
  }

  /** End an open turn with its reply: POST /v1/turns/{id}/commit. */
  commitTurn(id: string, body: CommitBody, options: CallOptions = {}): Promise<CommittedTurn> {
    return this.#transport.call<CommittedTurn>({ method: "POST", path: `/v1/turns/${encodeURIComponent(id)}/commit`, body, again: true }, options);
  }

  /** Take back what somebody thinks of an answer: DELETE /v1/turns/{id}/feedback. */
  removeFeedback(id: string, options: {
    /** the id of who takes it back; of a user's token it is its subject */
    author?: string | undefined;
  } & CallOptions = {}): Promise<void> {
    return this.#transport.call<void>({ method: "DELETE", path: `/v1/turns/${encodeURIComponent(id)}/feedback`, query: { author: options.author }, again: true }, options);
  }

  /** Tell what somebody thinks of an answer: PUT /v1/turns/{id}/feedback. */
  putFeedback(id: string, body: FeedbackBody, options: CallOptions = {}): Promise<Feedback> {
    return this.#transport.call<Feedback>({ method: "PUT", path: `/v1/turns/${encodeURIComponent(id)}/feedback`, body, again: true }, options);
  }

  /** Keep an open turn, and hear what has become of its question: POST /v1/turns/{id}/renew. */
  renewTurn(id: string, body: RenewBody | undefined, options: CallOptions = {}): Promise<HeldTurn> {
    return this.#transport.call<HeldTurn>({ method: "POST", path: `/v1/turns/${encodeURIComponent(id)}/renew`, body, again: true }, options);
  }

  /** Let an open turn wait for what it has asked: POST /v1/turns/{id}/wait. */
  waitTurn(id: string, body: WaitBody | undefined, options: CallOptions = {}): Promise<HeldTurn> {
    return this.#transport.call<HeldTurn>({ method: "POST", path: `/v1/turns/${encodeURIComponent(id)}/wait`, body }, options);
  }

  /** Tokens of answered turns, by agent, channel and policy: GET /v1/usage. */
  usage(options: {
    agent?: string | undefined;
    /** of one channel */
    channel?: string | undefined;
    /** turns that were opened at this time or later */
    from?: string | undefined;
    /** where several have a channel with this id */
    platform?: string | undefined;
    /** turns that were opened before this time */
    to?: string | undefined;
    /** where several have a channel with this id */
    workspace?: string | undefined;
  } & CallOptions = {}): Promise<UsageOutputBody> {
    return this.#transport.call<UsageOutputBody>({ method: "GET", path: "/v1/usage", query: { agent: options.agent, channel: options.channel, from: options.from, platform: options.platform, to: options.to, workspace: options.workspace }, again: true }, options);
  }
}
