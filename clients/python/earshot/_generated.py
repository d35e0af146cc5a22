# Written by "make clients" from docs/openapi.json. Do not edit: change the API, or .ci/clients.
"""What Earshot's HTTP API takes and answers.

The types are dictionaries, as JSON has them; a type checker knows their keys.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union


class AbortedTurn(TypedDict):
    state: Literal["aborted", "committed"]
    # its id
    turn: int


class _AgentBody(TypedDict):
    name: str


class AgentBody(_AgentBody, total=False):
    # further ids that it goes by, such as a Slack bot id beside its user id
    aliases: List[str]
    # default: every platform of the workspace
    platform: str
    # default: the key's only one
    workspace: str


class _AgentInfo(TypedDict):
    aliases: List[str]
    id: str
    name: str
    workspace: str


class AgentInfo(_AgentInfo, total=False):
    # where it is known in this channel only
    channel: str
    # absent where it is the same on all platforms
    platform: str


class AgentList(TypedDict):
    agents: List[AgentInfo]


class _Approval(TypedDict):
    # the message that is answered
    anchor: str
    asked: str
    # who asked the question
    asker: str
    channel: str
    channel_name: str
    # from then on nobody can agree
    expires: str
    id: str
    platform: str
    # of the arguments
    sha256: str
    state: Literal["open", "agreed", "refused", "expired", "withdrawn"]
    tool: str
    turn: int
    workspace: str


class Approval(_Approval, total=False):
    # the arguments to the byte; absent where they were erased
    args: str
    asker_name: str
    # who decided
    by: str
    by_name: str
    # the model's id of the call
    call: str
    decided: str
    # an operator decided
    operator: bool
    # what came of the call
    result: str
    # what who decided said to it
    why: str


class ApprovalBody(TypedDict, total=False):
    # the id of the person who clicked, as their platform's event says; default: the caller
    # decides, as an operator
    by: str
    decision: Literal["agree", "refuse"]
    # why; the model is told, and so is the channel
    reason: str
    # in place of a decision: what came of the call, in a few words
    result: str
    # of the arguments that are agreed to; where it is another than that of the stored ones,
    # nothing is decided
    sha256: str


class _ApprovalsOutputBody(TypedDict):
    approvals: List[Approval]


class ApprovalsOutputBody(_ApprovalsOutputBody, total=False):
    # the cursor of the next page; absent on the last
    next: str


class _AskBody(TypedDict):
    # what the tool would be given: an object, kept to the byte, or the text of one, as models
    # write it; 64 KiB at most
    arguments: Union[Dict[str, Any], str]
    # the model's id of the call, unique in the turn
    call: str
    # its name
    tool: str


class AskBody(_AskBody, total=False):
    # the id of who may decide as the asker; default: who wrote the question
    asker: str
    # for how long somebody may decide; default: 3600
    expires_in_seconds: int


class _AskedBy(TypedDict):
    emoji: Optional[str]
    id: Optional[str]


class AskedBy(_AskedBy, total=False):
    name: Optional[str]
    time: Optional[str]


class _Attached(TypedDict):
    id: Optional[str]
    sha256: Optional[str]
    turn: Optional[int]


class Attached(_Attached, total=False):
    tokens: Optional[int]


class Author(TypedDict, total=False):
    full_name: Optional[str]
    id: Optional[str]
    kind: Optional[str]
    name: Optional[str]
    not_allowed: Optional[bool]
    standing: Optional[str]
    team: Optional[str]


class AuthorJSON(TypedDict):
    id: str
    kind: Literal["human", "bot", "system"]
    name: str


class _AuthorNamed(TypedDict):
    id: str
    name: str


class AuthorNamed(_AuthorNamed, total=False):
    # tells apart authors with the same name
    full_name: str
    # default: human
    kind: Literal["human", "bot", "system"]
    # IANA name of the person's time zone
    zone: str


class _AuthorsBody(TypedDict):
    authors: List[AuthorNamed]


class AuthorsBody(_AuthorsBody, total=False):
    # default: every platform on which the workspace has channels
    platform: str
    # default: the key's only one
    workspace: str


class Budget(TypedDict, total=False):
    limit: Optional[int]
    session: Optional[int]
    tokens: Optional[int]


class Call(TypedDict):
    args: Optional[str]
    id: Optional[str]
    name: Optional[str]


class _CallerInfo(TypedDict):
    # of a key, as earshot key list shows it; of a token, issuer and subject; of a capability,
    # whose it is
    id: str
    kind: Literal["key", "user", "capability", "local"]
    limits: CallerLimits
    # what the next two fields say, in words
    reaches: str
    read_only: bool


class CallerInfo(_CallerInfo, total=False):
    # absent: every channel of the workspaces
    channels: List[str]
    # absent: never
    expires: str
    # of a key or a person
    name: str
    # absent: every workspace
    workspaces: List[str]


class _CallerLimits(TypedDict):
    body_bytes: int
    # in one request
    events: int


class CallerLimits(_CallerLimits, total=False):
    requests_at_once: int
    # absent: any number
    requests_per_second: float


class CapabilityAnswer(TypedDict):
    # a bearer token for POST /v1/tools/{name}
    capability: str
    expires: str


class CapabilityBody(TypedDict, total=False):
    # whose earlier turns are searched; default: the only agent that is known here
    agent: str
    # nothing that was said after it is shown; default: no bound
    anchor: str
    # its id, or an object; required, unless there is a conversation
    channel: Union[str, CapabilityBodyChannel2]
    # how long it is valid; default: 60
    minutes: Optional[int]
    # the platform, where several have a channel with this id
    platform: str
    # the workspace's id, where several have a channel with this id
    workspace: str


class _CapabilityBodyChannel2(TypedDict):
    # the channel's id on its platform
    id: str


class CapabilityBodyChannel2(_CapabilityBodyChannel2, total=False):
    platform: str
    workspace: str


class Channel(TypedDict, total=False):
    id: Optional[str]
    kind: Optional[str]
    name: Optional[str]
    platform: Optional[str]
    purpose: Optional[str]
    shared: Optional[bool]
    topic: Optional[str]
    workspace: Optional[str]


class ChannelBody(TypedDict, total=False):
    kind: Literal["channel", "dm", "group"]
    # without a leading #
    name: str
    # default: that of the stored channel, else api
    platform: str
    purpose: str
    topic: str
    # default: that of the stored channel, else the key's only one
    workspace: str


class _ChannelInfo(TypedDict):
    # how many are stored, without deleted ones
    messages: int
    # roots with at least one reply
    threads: int


class ChannelInfo(_ChannelInfo, total=False):
    # time of the first message
    first: str
    id: Optional[str]
    kind: Optional[str]
    # time of the last message
    last: str
    name: Optional[str]
    platform: Optional[str]
    purpose: Optional[str]
    shared: Optional[bool]
    topic: Optional[str]
    workspace: Optional[str]


class _ChannelNamed(TypedDict):
    id: str


class ChannelNamed(_ChannelNamed, total=False):
    kind: Literal["channel", "dm", "group"]
    # without a leading #
    name: str
    # default: that of the stored channel, else api
    platform: str
    purpose: str
    topic: str
    # default: that of the stored channel, else the key's only one
    workspace: str


class _ChannelPage(TypedDict):
    channels: List[ChannelInfo]


class ChannelPage(_ChannelPage, total=False):
    # the cursor of the next page; absent on the last
    next: str


class ChannelsBody(TypedDict):
    channels: List[ChannelNamed]


class ChatAuthor(TypedDict, total=False):
    id: Optional[str]
    name: Optional[str]


class _ChatConversation(TypedDict):
    agent_id: str
    client_type: str
    created_at: str
    id: str
    # Keys match [a-z][a-z0-9_]{0,63}; at most 64 keys and 16 KiB in all, and in a value 8
    # arrays and objects in one another.
    metadata: Dict[str, Union[str, float, bool, List[Any], Dict[str, Any]]]
    # null: nobody's in particular
    owner_id: Optional[str]
    # api for what is Earshot's own
    platform: str
    tags: List[str]
    title: str
    updated_at: str


class ChatConversation(_ChatConversation, total=False):
    # absent: the agent's own, without a channel
    channel_id: str
    # absent: the channel's top level
    thread_id: str
    workspace_id: str


class _ChatMessage(TypedDict):
    author: AuthorJSON
    content: str
    created_at: str
    message_id: str
    role: Literal["user", "assistant"]


class ChatMessage(_ChatMessage, total=False):
    edited_at: str
    # those of a message that has some
    metadata: Dict[str, Union[str, float, bool, List[Any], Dict[str, Any]]]


class _CommitBody(TypedDict):
    reply: ReplyJSON


class CommitBody(_CommitBody, total=False):
    # calls of tools, and what the tools answered, between prompt and reply
    entries: List[Entry]
    # merged into the conversation's; null removes a key
    metadata: Dict[str, Optional[str]]
    # what the model has used, in tokens
    usage: UsageJSON


class CommittedTurn(TypedDict):
    anchor: str
    # its id
    conversation: str
    # in its conversation, from 0
    number: int
    # it was committed before this request, which changed nothing
    repeated: bool
    # the ids of the reply's messages
    replies: List[str]
    # its id
    turn: int


class _ConflictProblem(TypedDict):
    # what went wrong, for programs
    code: str
    # the anchor has been answered, somebody else is answering it, the anchor was deleted, the
    # conversation has changed, or this turn was committed with another text, ids or usage
    reason: Literal["answered", "answering", "deleted", "changed", "other_reply"]
    # the HTTP status
    status: int
    # the status in words
    title: str


class ConflictProblem(_ConflictProblem, total=False):
    # the context anew, with a turn of its own; only where the conversation has changed
    context: ContextAnswer
    # what went wrong, for people, with the remedy where there is one
    detail: str
    # what is wrong with which field of the request, one sentence each
    fields: List[str]
    # what the turn was committed with; of other_reply, and of answered when a turn is opened or
    # renewed
    reply: StoredReply
    # which answered the anchor, or is answering it; when a turn is opened or renewed
    turn: int


class _ContextAnswer(TypedDict):
    # its id
    conversation: str
    # of the prompt
    hash: str
    notes: List[Note]
    prompt: PromptJSON
    tokens: ResultTokens


class ContextAnswer(_ContextAnswer, total=False):
    # a bearer token for POST /v1/tools/{name}, in this channel up to the anchor
    capability: str
    # the files that messages of the prompt have as media
    files: List[PromptFile]
    ledger: List[LedgerRow]
    # what committing the turn stores, besides the reply
    next: Next
    # the messages that the prompt shows, in the order in which they were said, where the
    # request asks for them
    sources: List[SourceJSON]
    tools: List[ToolInfo]
    turn: OpenTurn


class ContextBody(TypedDict, total=False):
    # with open: also where the question has been answered, or somebody else is answering it
    again: bool
    # who answers; default: the only agent that is known here
    agent: str
    # the id of the message to answer; default: that of message
    anchor: str
    # IANA name of the zone of who asks, in which the question's own date and time are shown;
    # default: zone, else the asker's own where it is known
    asker_zone: str
    # ids of files that the model is given with this turn
    attach: List[str]
    # in tokens
    budget: Union[int, Budget]
    # its id, or an object; required, unless there is a conversation
    channel: Union[str, ContextBodyChannel2]
    # the id of a conversation; default: the one that the anchor belongs to
    conversation: str
    # o200k, bytes4, or either times a factor, such as o200k*1.15
    counter: Optional[str]
    # false: the model can be given no files; the prompt has none and its guide promises none;
    # default: true
    files: Optional[bool]
    # with open: seconds for which the turn is held unless it is renewed; default: as long as
    # turns can be committed, which is 15 minutes unless the operator says otherwise
    hold: int
    # the operator's own system text
    instructions: Optional[str]
    # false: the answer has no ledger, which is most of it; GET /v1/turns/{id} has that of a
    # committed turn; default: true
    ledger: Optional[bool]
    # a message that is recorded first
    message: Message
    # false: the answer has no next; default: true
    next: Optional[bool]
    # open a turn, to be committed with the reply
    open: bool
    # the platform, where several have a channel with this id
    platform: str
    # default: the sidecar's, which is standard
    policy: Union[str, Dict[str, Any]]
    # also return the messages that the prompt shows, as people cite them
    sources: bool
    # what the anchor is read as saying
    text: str
    # also return the tools' descriptions for a model
    tools: bool
    # the workspace's id, where several have a channel with this id
    workspace: str
    # IANA name of the zone of the times that are shown; a session goes on in the zone that it
    # began in
    zone: str


class _ContextBodyChannel2(TypedDict):
    # the channel's id on its platform
    id: str


class ContextBodyChannel2(_ContextBodyChannel2, total=False):
    platform: str
    workspace: str


class Conversation(TypedDict, total=False):
    attached: List[Attached]
    cursor: Optional[int]
    epoch: Optional[int]
    form: Optional[str]
    names: List[Named]
    processed: Optional[str]
    session: List[Entry]
    shown: List[Shown]
    summary: Summary
    turns: List[Turn]


class ConversationData(TypedDict):
    conversation: ChatConversation


class ConversationDataEnvelope(TypedDict):
    data: ConversationData
    success: bool


class _ConversationsData(TypedDict):
    # the newest first
    conversations: List[ChatConversation]
    # whether there may be older ones
    has_more: bool


class ConversationsData(_ConversationsData, total=False):
    # of the page with older ones
    next_cursor: str


class ConversationsDataEnvelope(TypedDict):
    data: ConversationsData
    success: bool


_Coverage = TypedDict(
    "_Coverage",
    {
        "from": "Optional[str]",
        "state": "Optional[str]",
        "thread": "Optional[str]",
        "to": "Optional[str]",
    },
)


class Coverage(_Coverage, total=False):
    why: Optional[str]


class CoverageBody(TypedDict):
    # its id, or an object with it; workspace and platform where the id is not enough
    channel: Union[str, Channel]
    # in their order: thread is the id of a root, absent for the channel; from is absent from
    # the beginning on, to until now
    coverage: List[CoverageEntry]


class _CoverageEntry(TypedDict):
    state: Literal["known", "missing", "stale"]


_CoverageEntryMore = TypedDict(
    "_CoverageEntryMore",
    {
        # absent: from the beginning
        "from": "str",
        # the id of its root; absent: the channel itself
        "thread": "str",
        # absent: until now
        "to": "str",
        # for people; no model sees it
        "why": "str",
    },
    total=False,
)


class CoverageEntry(_CoverageEntry, _CoverageEntryMore):
    """CoverageEntry"""


class Covered(TypedDict):
    channel: str
    # what is missing or stale, of threads too
    missing: List[CoverageEntry]
    platform: str
    workspace: str


class CreatedData(TypedDict):
    conversation: ChatConversation
    created: bool


class CreatedDataEnvelope(TypedDict):
    data: CreatedData
    success: bool


class _DecidedProblem(TypedDict):
    # as it is stored
    approval: Approval
    # what went wrong, for programs
    code: str
    # the HTTP status
    status: int
    # the status in words
    title: str


class DecidedProblem(_DecidedProblem, total=False):
    # what went wrong, for people, with the remedy where there is one
    detail: str
    # what is wrong with which field of the request, one sentence each
    fields: List[str]


class _Entry(TypedDict):
    role: Optional[str]


class Entry(_Entry, total=False):
    call: Optional[str]
    calls: List[Call]
    failed: Optional[bool]
    media: List[str]
    opaque: Optional[str]
    text: Optional[str]


class Envelope(TypedDict):
    code: str
    error: str
    success: bool


class _Erasure(TypedDict):
    platform: str
    # what has been removed so far, or would be
    removed: ErasureCounts
    workspace: str


class Erasure(_Erasure, total=False):
    author: str
    # time
    begun: str
    channel: str
    # time; absent while it is under way
    ended: str
    forget: bool
    # absent where it was only counted
    id: int


class ErasureCounts(TypedDict):
    # deliveries that lost their bytes
    events: int
    files: int
    messages: int
    names: int
    # of agents, because they quote; counted in messages too
    replies: int
    revisions: int
    sessions: int
    summaries: int
    # turns whose texts were removed
    turns: int


class _Event(TypedDict):
    # its id, or an object with it; name, kind, topic and purpose replace what is stored;
    # workspace and platform where the id is not enough
    channel: Union[str, Channel]
    type: Literal["message", "edit", "delete", "reaction"]


class Event(_Event, total=False):
    # the delivery's id, unique within the channel; a reaction without its user needs it
    id: str
    # of message and edit; an edit has edited, the time of the revision
    message: Message
    # of delete and reaction
    message_id: str
    reaction: EventReaction


class EventBatch(TypedDict):
    # in the order in which they happened
    events: List[Event]


class _EventReaction(TypedDict):
    # 1 where somebody gave it, -1 where they took it back
    by: Literal[1, -1]
    # the emoji's name without colons
    name: str


class EventReaction(_EventReaction, total=False):
    # when it happened: of what one person did the later stands, in whatever order it is told;
    # without it, when it is told
    time: str
    # who: the same person's same emoji counts once, however often it is told; without it, each
    # id counts
    user: str


class _Feedback(TypedDict):
    author: str
    channel: str
    channel_name: str
    good: bool
    platform: str
    time: str
    turn: int
    workspace: str


class Feedback(_Feedback, total=False):
    author_name: str
    # in their words
    reason: str


class _FeedbackBody(TypedDict):
    # whether they found the answer good
    good: Optional[bool]


class FeedbackBody(_FeedbackBody, total=False):
    # the id of who thinks so; of a user's token it is its subject
    author: str
    # in their words
    reason: str


class _FeedbackListBody(TypedDict):
    feedback: List[Feedback]


class FeedbackListBody(_FeedbackListBody, total=False):
    # the cursor of the next page; absent on the last
    next: str


class File(TypedDict, total=False):
    id: Optional[str]
    name: Optional[str]
    sha256: Optional[str]
    size: Optional[int]
    tokens: Optional[int]
    type: Optional[str]


class _HeldTurn(TypedDict):
    # the message that is answered
    anchor: str
    # its id
    channel: str
    # its id
    conversation: str
    expires: str
    platform: str
    # cancelled: the question was deleted; changed: it was edited since the turn was opened;
    # waiting: people are asked, and nobody holds the turn; decided: they have decided, and
    # whoever opens the question or renews the turn goes on
    state: Literal["open", "cancelled", "changed", "waiting", "decided", "expired", "committed", "aborted"]
    # its id
    turn: int
    workspace: str


class HeldTurn(_HeldTurn, total=False):
    # what people were asked for it, the newest first; not in lists
    approvals: List[Approval]
    # when its reply was about to be posted
    posting: str


class _HistoryBody(TypedDict):
    # its id, or an object with it; with platform discord also the channel or thread as Discord
    # describes it
    channel: Union[str, Channel]


_HistoryBodyMore = TypedDict(
    "_HistoryBodyMore",
    {
        # of discord: what Discord was asked with
        "after": "str",
        # of discord: what Discord was asked with
        "before": "str",
        # of messages: they are all that was said since; default: the first of them
        "from": "str",
        # of slack: what Slack was asked with; default: now
        "latest": "str",
        # of discord: what Discord was asked with, 1 to 100; default: 50
        "limit": "int",
        # in place of page, of any platform
        "messages": "List[Message]",
        # of slack: what Slack was asked with
        "oldest": "str",
        # of slack and discord: the answer of the platform as it came
        "page": "Union[Dict[str, Any], List[Dict[str, Any]]]",
        # slack or discord with page; default: that of the stored channel, else api
        "platform": "str",
        # the id of its root, where this is a thread's history
        "thread": "str",
        # of messages: they are all that was said until then; default: now
        "to": "str",
        # of messages: nothing was said before them
        "whole": "bool",
        # default: that of the stored channel, else the key's only one
        "workspace": "str",
    },
    total=False,
)


class HistoryBody(_HistoryBody, _HistoryBodyMore):
    """HistoryBody"""


class Hit(TypedDict):
    # the share of the query's words that it has, by their weights, 0 to 1
    cover: float
    id: str
    message: Message
    # what the score is made of, such as words and recency
    parts: Dict[str, float]
    # the sum of parts; comparable within one answer only
    score: float


class HitList(TypedDict):
    # the best first
    hits: List[Hit]
    # what is missing or stale of the channel's history between from and to: what was said then
    # may not be found
    missing: List[CoverageEntry]


class _Identity(TypedDict):
    id: Optional[str]
    name: Optional[str]


class Identity(_Identity, total=False):
    aliases: List[str]


class _Input(TypedDict):
    anchor: Optional[str]
    channel: Channel
    identity: Identity
    messages: List[Message]


class Input(_Input, total=False):
    asked_by: AskedBy
    asker_zone: Optional[str]
    attach: List[str]
    budget: Budget
    conversation: Conversation
    counter: Optional[str]
    coverage: List[Coverage]
    instructions: Optional[str]
    mentioned: List[Mentioned]
    notices: List[str]
    policy: Union[str, Dict[str, Any]]
    recalled: List[Recalled]
    stored: List[Stored]
    trust: Trust
    zone: Optional[str]


class InterruptedTurn(TypedDict):
    id: int
    # when it was about to post
    posting: str


class _KnownStretch(TypedDict):
    to: str


_KnownStretchMore = TypedDict(
    "_KnownStretchMore",
    {
        # absent: from the beginning
        "from": "str",
    },
    total=False,
)


class KnownStretch(_KnownStretch, _KnownStretchMore):
    """KnownStretch"""


class _LedgerRow(TypedDict):
    id: str
    reason: str
    section: str
    tokens: int
    verdict: str


class LedgerRow(_LedgerRow, total=False):
    cover: float
    parts: Dict[str, float]
    score: float


class ListBody(TypedDict):
    tools: List[ToolInfo]


class _ListedTurn(TypedDict):
    agent: str
    # the message that is answered
    anchor: str
    channel: Channel
    # the conversation's id
    conversation: str
    # the session's number in its conversation
    epoch: int
    id: int
    # time
    opened: str
    # open, claimed, generating, posting, done, failed, parked, dropped or refused; of a turn
    # that was opened by a caller open, expired or aborted until it is committed
    state: str


class ListedTurn(_ListedTurn, total=False):
    # of a turn that was opened by a caller: until when it can be committed
    expires: str
    # of the prompt
    hash: str
    # time
    updated: str
    # the cause of the state
    why: str


class MediaJSON(TypedDict):
    data: str
    id: str
    name: str
    # its media type
    type: str


class _Mentioned(TypedDict):
    id: Optional[str]
    name: Optional[str]


class Mentioned(_Mentioned, total=False):
    full_name: Optional[str]


class _Message(TypedDict):
    author: Author
    id: Optional[str]
    text: Optional[str]
    time: Optional[str]


class Message(_Message, total=False):
    deleted: Optional[bool]
    edited: Optional[str]
    files: List[File]
    mentions: List[str]
    # Keys match [a-z][a-z0-9_]{0,63}; at most 64 keys and 16 KiB in all, and in a value 8
    # arrays and objects in one another.
    metadata: Dict[str, Union[str, float, bool, List[Any], Dict[str, Any]]]
    reactions: List[Reaction]
    replies: Replies
    reply_to: Optional[str]
    seq: Optional[int]
    shared: List[Shared]
    subject: Subject
    thread: Optional[str]
    tokens: Optional[int]


class MessageData(TypedDict):
    # false: it was there, or was edited
    created: bool
    message: ChatMessage


class MessageDataEnvelope(TypedDict):
    data: MessageData
    success: bool


class _MessageInfo(TypedDict):
    message: Message


class MessageInfo(_MessageInfo, total=False):
    # the oldest first, the current one last
    revisions: List[Message]


class _MessagePage(TypedDict):
    # in the order in which they were said
    messages: List[Message]
    # what is missing or stale of the channel's history in the time of the page: nothing, or not
    # all, is known of it
    missing: List[CoverageEntry]


class MessagePage(_MessagePage, total=False):
    # the cursor of the next page, with older ones; absent on the last
    next: str


class _MessagesData(TypedDict):
    # whether there are older ones
    has_more: bool
    # oldest first
    messages: List[ChatMessage]


class MessagesData(_MessagesData, total=False):
    # of the page with older ones
    next_cursor: str


class MessagesDataEnvelope(TypedDict):
    data: MessagesData
    success: bool


class MetadataPatch(TypedDict):
    # Keys match [a-z][a-z0-9_]{0,63}; at most 64 keys and 16 KiB in all, and in a value 8
    # arrays and objects in one another. last_processed_ts is a Slack ts that only moves
    # forward.
    metadata: Dict[str, Optional[Union[str, float, bool, List[Any], Dict[str, Any]]]]


class Named(TypedDict):
    id: Optional[str]
    name: Optional[str]


class _NewChatMessage(TypedDict):
    # assistant is the conversation's agent
    role: Optional[Literal["user", "assistant"]]


class NewChatMessage(_NewChatMessage, total=False):
    # of a user's message; default: the conversation's owner
    author: ChatAuthor
    # what is said; required, here or as text, of a message without metadata. Left out, the text
    # of a stored message stays
    content: Optional[str]
    # when it was said, RFC 3339 or a Slack ts; default: now, or what a Slack message_id says.
    # An edit keeps the first one's
    created_at: Optional[str]
    # unique in the channel; one is made where there is none
    message_id: Optional[str]
    # kept with the message and shown in no prompt; they replace those of a stored message, and
    # left out they stay
    metadata: Dict[str, Union[str, float, bool, List[Any], Dict[str, Any]]]
    # another name of content
    text: Optional[str]


class _NewConversation(TypedDict):
    # the agent whose conversation it is
    agent_id: Optional[str]
    # the kind of program that creates it, such as slack
    client_type: Optional[str]
    # for people; it is in no prompt
    title: Optional[str]


class NewConversation(_NewConversation, total=False):
    # unique for the agent and the workspace: the same key again returns the same conversation
    idempotency_key: Optional[str]
    # Keys match [a-z][a-z0-9_]{0,63}; at most 64 keys and 16 KiB in all, and in a value 8
    # arrays and objects in one another. last_processed_ts is a Slack ts that only moves
    # forward.
    metadata: Dict[str, Optional[Union[str, float, bool, List[Any], Dict[str, Any]]]]
    # whose it is; a user's is always the user's own
    owner_id: Optional[str]
    tags: List[str]


class Next(TypedDict):
    attached: List[Attached]
    cursor: int
    epoch: int
    names: List[Named]
    shown: List[Shown]


class NextPage(TypedDict, total=False):
    # of Discord
    after: str
    # of Discord
    before: str
    # of conversations.history
    latest: str
    # of conversations.replies
    oldest: str


class Note(TypedDict):
    kind: str
    text: str


class _OpenTurn(TypedDict):
    # until when it holds the claim and can be committed; POST /v1/turns/{id}/renew moves it
    expires: str
    id: int
    # an idempotency key for posting the reply: the same for every turn for this question until
    # it is answered; 24 characters
    key: str


class OpenTurn(_OpenTurn, total=False):
    # what an earlier turn for this question asked people, and how they decided, the newest
    # first: go on with what was agreed to
    approvals: List[Approval]
    # an earlier turn for this question whose holder was about to post and was not heard of
    # again: its reply may be visible; look for it by the key before you post
    interrupted: InterruptedTurn


class OpenTurnsOutputBody(TypedDict):
    turns: List[HeldTurn]


class _Problem(TypedDict):
    # what went wrong, for programs
    code: str
    # the HTTP status
    status: int
    # the status in words
    title: str


class Problem(_Problem, total=False):
    # what went wrong, for people, with the remedy where there is one
    detail: str
    # what is wrong with which field of the request, one sentence each
    fields: List[str]


class _PromptFile(TypedDict):
    id: str
    # its content is kept: GET /v1/files/{file}; else PUT gives it
    stored: bool


class PromptFile(_PromptFile, total=False):
    # a message that shares it
    message: str
    name: str
    sha256: str
    size: int
    type: str


class PromptJSON(TypedDict):
    messages: List[ResultMessage]
    system: str


class _Reaction(TypedDict):
    count: Optional[int]
    name: Optional[str]


class Reaction(_Reaction, total=False):
    by: List[Reactor]


class _Reactor(TypedDict):
    id: Optional[str]


class Reactor(_Reactor, total=False):
    name: Optional[str]


class _Recalled(TypedDict):
    id: Optional[str]


class Recalled(_Recalled, total=False):
    cover: Optional[float]
    parts: Dict[str, float]
    score: Optional[float]


class RenewBody(TypedDict, total=False):
    # seconds from now; default: as when the turn was opened
    hold: int
    # the reply is about to be posted
    posting: bool
    # seconds to wait for something to happen; default: none
    wait: int


class Replies(TypedDict, total=False):
    count: Optional[int]
    last: Optional[str]
    last_hour: Optional[int]


class _ReplyJSON(TypedDict):
    # as people see it
    text: str


class ReplyJSON(_ReplyJSON, total=False):
    # the id of the message that it became; it is recorded as the agent's. Several messages are
    # given as parts
    ids: List[str]
    # the messages that it became, where these are several
    parts: List[ReplyPart]
    # which message it replies to by reference; with thread
    reply_to: Optional[str]
    # in which thread it stands, or an empty string for none; default: where answers in this
    # conversation belong
    thread: Optional[str]
    # of the message; default: now
    time: Optional[str]


class _ReplyPart(TypedDict):
    id: str
    text: str


class ReplyPart(_ReplyPart, total=False):
    time: Optional[str]


class Result(TypedDict):
    hash: str
    ledger: List[LedgerRow]
    messages: List[ResultMessage]
    next: Next
    notes: List[Note]
    system: str
    tokens: ResultTokens


class _ResultMessage(TypedDict):
    media: List[str]
    role: str
    sections: List[str]
    text: str


class ResultMessage(_ResultMessage, total=False):
    call: str
    calls: List[Call]
    failed: bool
    opaque: str


class ResultTokens(TypedDict):
    budget: int
    counter: str
    sections: Dict[str, int]
    total: int


class _Shared(TypedDict):
    kind: Optional[str]


class Shared(_Shared, total=False):
    author: Optional[str]
    author_id: Optional[str]
    place: Optional[str]
    text: Optional[str]
    time: Optional[str]
    trust: Optional[str]


class Shown(TypedDict):
    id: Optional[str]
    revision: Optional[str]


class _SourceAuthor(TypedDict):
    id: str
    # as the prompt has it
    name: str


class SourceAuthor(_SourceAuthor, total=False):
    # human, bot or system
    kind: str


class _SourceJSON(TypedDict):
    author: SourceAuthor
    id: str
    # the part of the prompt that shows it, such as thread or recall; empty where an earlier
    # turn has shown it
    section: str
    # what it says, at most 200 characters of it
    text: str
    time: str


class SourceJSON(_SourceJSON, total=False):
    # the id of its thread's root
    thread: str


class _Stored(TypedDict):
    count: Optional[int]
    thread: Optional[str]


_StoredMore = TypedDict(
    "_StoredMore",
    {
        "from": "Optional[str]",
        "to": "Optional[str]",
    },
    total=False,
)


class Stored(_Stored, _StoredMore):
    """Stored"""


class StoredAuthors(TypedDict):
    # how many
    stored: int


class StoredChannels(TypedDict):
    # how many
    stored: int


class StoredFile(TypedDict):
    id: str
    # of the file as it was shared
    sha256: str
    # of what models are given, in bytes
    size: int
    # media type of what models are given
    type: str


class StoredReply(TypedDict):
    # of its messages
    ids: List[str]
    # as far as it is stored
    text: str
    usage: UsageJSON


class Subject(TypedDict, total=False):
    name: Optional[str]
    post: Optional[bool]
    tags: List[str]


class _Summary(TypedDict):
    text: Optional[str]


_SummaryMore = TypedDict(
    "_SummaryMore",
    {
        "by": "Optional[str]",
        "from": "Optional[str]",
        "to": "Optional[str]",
        "turns": "Optional[int]",
    },
    total=False,
)


class Summary(_Summary, _SummaryMore):
    """Summary"""


class _Thread(TypedDict):
    # the root's
    id: str
    # in the order in which they were said
    replies: List[Message]
    # how many replies are stored
    total: int


class Thread(_Thread, total=False):
    # the cursor of the next page, with older replies; absent on the last
    next: str
    # absent where it was deleted or is not stored
    root: Message


class _ToldEvent(TypedDict):
    # what has come of it: late is an older revision than the stored one, conflict another text
    # for the stored revision, which stays, unknown a reaction to a message that is not stored,
    # which counts if the message comes within a day, ignored a raw event that says nothing that
    # is kept
    change: Literal["new", "edited", "updated", "gone", "late", "same", "conflict", "unknown", "ignored"]


class ToldEvent(_ToldEvent, total=False):
    channel: str
    # of conflict: what to do
    detail: str
    # its id
    message: str
    platform: str
    # the message's sequence in its channel
    seq: int
    workspace: str


class ToldEvents(TypedDict):
    # one for each event, in their order
    events: List[ToldEvent]


class _ToldHistory(TypedDict):
    channel: str
    # how many were told
    messages: int
    # what is still missing or stale of the thread, or of the channel's own history
    missing: List[CoverageEntry]
    # how many of them were not stored yet
    new: int
    platform: str
    workspace: str


class ToldHistory(_ToldHistory, total=False):
    # the time that is known by it; absent where none is, as by an empty page of which there is
    # more
    known: KnownStretch
    # with what to ask the platform for the next page; absent where this was the last
    next: NextPage
    thread: str


class _ToolAnswer(TypedDict):
    # give it to the model as it is
    answer: Dict[str, Any]
    # the call was refused; the answer says why
    failed: bool
    # ids of the messages whose text is in the answer
    messages: List[str]


class ToolAnswer(_ToolAnswer, total=False):
    # the content of a file that the model has asked for; give it with the answer
    media: List[MediaJSON]


class ToolInfo(TypedDict):
    description: str
    # the JSON Schema of the tool's arguments
    input_schema: Dict[str, Any]
    name: str


class TotalStruct(TypedDict):
    cache_read: int
    cache_write: int
    # tokens not read from the cache
    input: int
    output: int
    turns: int


class Trust(TypedDict, total=False):
    bots: Optional[str]
    external: Optional[str]
    guest: Optional[str]
    not_allowed: Optional[str]


class Turn(TypedDict):
    anchor: Optional[str]
    reply_ids: List[str]


class _TurnsOutputBody(TypedDict):
    turns: List[ListedTurn]


class TurnsOutputBody(_TurnsOutputBody, total=False):
    # the cursor of the next page; absent on the last
    next: str


class UsageCounts(TypedDict):
    cache_read: int
    cache_write: int
    # tokens not read from the cache
    input: int
    output: int


class UsageJSON(TypedDict, total=False):
    cache_read: int
    cache_write: int
    # not read from the cache
    input: int
    output: int


class UsageOutputBody(TypedDict):
    total: TotalStruct
    usage: List[UsageRow]


class UsageRow(TypedDict):
    agent: str
    cache_read: int
    cache_write: int
    channel: Channel
    # tokens not read from the cache
    input: int
    output: int
    policy: str
    turns: int


class WaitBody(TypedDict, total=False):
    # to wait for the decision; default: none
    seconds: int


class _WholeTurn(TypedDict):
    agent: str
    # the message that is answered
    anchor: str
    channel: Channel
    # the conversation's id
    conversation: str
    # the session's number in its conversation
    epoch: int
    id: int
    # for each message that was considered: its section, verdict, reason and tokens
    ledger: List[LedgerRow]
    # time
    opened: str
    # what the reply became on the platform, as far as that is known
    reply_ids: List[str]
    # open, claimed, generating, posting, done, failed, parked, dropped or refused; of a turn
    # that was opened by a caller open, expired or aborted until it is committed
    state: str


class WholeTurn(_WholeTurn, total=False):
    # why a new session began with this turn
    began: str
    # up to which sequence the conversation was considered
    cursor: int
    # of a turn that was opened by a caller: until when it can be committed
    expires: str
    # of the prompt
    hash: str
    policy: str
    # what the model was sent, made again; absent where something of it was erased
    prompt: PromptJSON
    # the message that is answered; absent where it was deleted
    question: Message
    # the reply as the session has it
    reply: str
    # time
    updated: str
    usage: UsageCounts
    # the cause of the state
    why: str
