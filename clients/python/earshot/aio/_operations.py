# Written by "make clients" from docs/openapi.json. Do not edit: change the API, or .ci/clients.
"""A method for each operation of Earshot's HTTP API."""

from __future__ import annotations

from typing import Any, AsyncIterator, Dict, List, Literal, Optional, Union, cast

from .._generated import *
from ._transport import ServerEvent, Transport, joined, quoted


class Operations:
    """One method for each operation of the API."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list_conversations(
        self,
        *,
        agent_id: Optional[str] = None,
        channel_id: Optional[str] = None,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
        owner_id: Optional[str] = None,
        platform: Optional[str] = None,
        workspace_id: Optional[str] = None,
    ) -> ConversationsDataEnvelope:
        """A page of an agent's conversations, the newest first: GET /api/chat/conversations.

        agent_id: whose conversations; required
        channel_id: in this channel only
        cursor: the next_cursor of a page, for the page with older conversations
        owner_id: of this owner only
        platform: on this platform only; api for those without a channel
        workspace_id: in this workspace only
        """
        answer = await self._transport.call("GET", "/api/chat/conversations", query={"agent_id": agent_id, "channel_id": channel_id, "cursor": cursor, "limit": limit, "owner_id": owner_id, "platform": platform, "workspace_id": workspace_id}, again=True)
        return cast("ConversationsDataEnvelope", answer)

    async def create_conversation(self, body: NewConversation) -> CreatedDataEnvelope:
        """Create a conversation, once for each idempotency key: POST /api/chat/conversations."""
        answer = await self._transport.call("POST", "/api/chat/conversations", body=body)
        return cast("CreatedDataEnvelope", answer)

    async def get_conversation(self, id: str) -> ConversationDataEnvelope:
        """A conversation: GET /api/chat/conversations/{id}.

        id: the conversation's id
        """
        answer = await self._transport.call("GET", f"/api/chat/conversations/{quoted(id)}", again=True)
        return cast("ConversationDataEnvelope", answer)

    async def list_conversation_messages(
        self,
        id: str,
        *,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> MessagesDataEnvelope:
        """A page of a conversation's messages, oldest first: GET /api/chat/conversations/{id}/messages.

        id: the conversation's id
        cursor: the next_cursor of a page, for the page with older messages
        """
        answer = await self._transport.call("GET", f"/api/chat/conversations/{quoted(id)}/messages", query={"cursor": cursor, "limit": limit}, again=True)
        return cast("MessagesDataEnvelope", answer)

    async def post_conversation_message(self, id: str, body: NewChatMessage) -> MessageDataEnvelope:
        """Record a message of a conversation, once for each message_id: POST /api/chat/conversations/{id}/messages.

        id: the conversation's id
        """
        answer = await self._transport.call("POST", f"/api/chat/conversations/{quoted(id)}/messages", body=body)
        return cast("MessageDataEnvelope", answer)

    async def merge_conversation_metadata(
        self,
        id: str,
        body: MetadataPatch,
    ) -> ConversationDataEnvelope:
        """Merge metadata into a conversation's, in one step: PATCH /api/chat/conversations/{id}/metadata.

        id: the conversation's id
        """
        answer = await self._transport.call("PATCH", f"/api/chat/conversations/{quoted(id)}/metadata", body=body, again=True)
        return cast("ConversationDataEnvelope", answer)

    async def list_agents(self) -> AgentList:
        """The agents that the key reaches: GET /v1/agents."""
        answer = await self._transport.call("GET", "/v1/agents", again=True)
        return cast("AgentList", answer)

    async def put_agent(self, id: str, body: AgentBody) -> AgentInfo:
        """Say who an agent is: PUT /v1/agents/{id}.

        id: the agent's id on its platform, as its messages have it
        """
        answer = await self._transport.call("PUT", f"/v1/agents/{quoted(id)}", body=body, again=True)
        return cast("AgentInfo", answer)

    async def list_approvals(
        self,
        *,
        channel: Optional[str] = None,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
        platform: Optional[str] = None,
        state: Optional[List[Literal["open", "agreed", "refused", "expired", "withdrawn"]]] = None,
        turn: Optional[int] = None,
        workspace: Optional[str] = None,
    ) -> ApprovalsOutputBody:
        """What people were asked before a tool acted, newest first: GET /v1/approvals.

        channel: of one channel
        cursor: from the page before
        platform: where several have a channel with this id
        state: one or several, with commas between them
        turn: of one turn
        workspace: where several have a channel with this id
        """
        answer = await self._transport.call("GET", "/v1/approvals", query={"channel": channel, "cursor": cursor, "limit": limit, "platform": platform, "state": joined(state), "turn": turn, "workspace": workspace}, again=True)
        return cast("ApprovalsOutputBody", answer)

    async def get_approval(self, id: str) -> Approval:
        """One approval: GET /v1/approvals/{id}.

        id: the approval's id
        """
        answer = await self._transport.call("GET", f"/v1/approvals/{quoted(id)}", again=True)
        return cast("Approval", answer)

    async def decide_approval(self, id: str, body: ApprovalBody) -> Approval:
        """Agree to a call of a tool, or refuse it; or note what came of it: POST /v1/approvals/{id}.

        id: the approval's id
        """
        answer = await self._transport.call("POST", f"/v1/approvals/{quoted(id)}", body=body)
        return cast("Approval", answer)

    async def assemble(self, body: Input) -> Result:
        """Prompt and ledger of an input, without the store: POST /v1/assemble."""
        answer = await self._transport.call("POST", "/v1/assemble", body=body, again=True)
        return cast("Result", answer)

    async def put_authors(self, body: AuthorsBody) -> StoredAuthors:
        """Say who authors are: names, kinds, time zones: PUT /v1/authors."""
        answer = await self._transport.call("PUT", "/v1/authors", body=body, again=True)
        return cast("StoredAuthors", answer)

    async def erase_author(
        self,
        id: str,
        *,
        channel: Optional[str] = None,
        dry_run: Optional[bool] = None,
        forget: Optional[bool] = None,
        platform: Optional[str] = None,
        workspace: Optional[str] = None,
    ) -> Erasure:
        """Erase what a person said: DELETE /v1/authors/{id}.

        id: the person's id on the platform
        channel: in this channel only
        dry_run: count what would be removed, and remove nothing
        forget: what they say later is not recorded either
        platform: default: the only one on which the workspace's id is known
        workspace: default: the key's only one
        """
        answer = await self._transport.call("DELETE", f"/v1/authors/{quoted(id)}", query={"channel": channel, "dry_run": dry_run, "forget": forget, "platform": platform, "workspace": workspace}, again=True)
        return cast("Erasure", answer)

    async def make_capability(self, body: CapabilityBody) -> CapabilityAnswer:
        """A token for the tools of one channel: POST /v1/capabilities."""
        answer = await self._transport.call("POST", "/v1/capabilities", body=body)
        return cast("CapabilityAnswer", answer)

    async def list_channels(
        self,
        *,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> ChannelPage:
        """The channels that the key reaches: GET /v1/channels.

        cursor: from the page before
        """
        answer = await self._transport.call("GET", "/v1/channels", query={"cursor": cursor, "limit": limit}, again=True)
        return cast("ChannelPage", answer)

    async def put_channels(self, body: ChannelsBody) -> StoredChannels:
        """Say what channels are: PUT /v1/channels."""
        answer = await self._transport.call("PUT", "/v1/channels", body=body, again=True)
        return cast("StoredChannels", answer)

    async def erase_channel(
        self,
        channel: str,
        *,
        dry_run: Optional[bool] = None,
        platform: Optional[str] = None,
        workspace: Optional[str] = None,
    ) -> Erasure:
        """Erase a channel: DELETE /v1/channels/{channel}.

        channel: the channel's id on its platform
        dry_run: count what would be removed, and remove nothing
        platform: the platform, where several have a channel with this id
        workspace: the workspace's id, where several have a channel with this id
        """
        answer = await self._transport.call("DELETE", f"/v1/channels/{quoted(channel)}", query={"dry_run": dry_run, "platform": platform, "workspace": workspace}, again=True)
        return cast("Erasure", answer)

    async def get_channel(
        self,
        channel: str,
        *,
        platform: Optional[str] = None,
        workspace: Optional[str] = None,
    ) -> ChannelInfo:
        """One channel, and how much of it is stored: GET /v1/channels/{channel}.

        channel: the channel's id on its platform
        platform: the platform, where several have a channel with this id
        workspace: the workspace's id, where several have a channel with this id
        """
        answer = await self._transport.call("GET", f"/v1/channels/{quoted(channel)}", query={"platform": platform, "workspace": workspace}, again=True)
        return cast("ChannelInfo", answer)

    async def put_channel(self, channel: str, body: ChannelBody) -> Channel:
        """Say what a channel is: PUT /v1/channels/{channel}.

        channel: the channel's id on its platform
        """
        answer = await self._transport.call("PUT", f"/v1/channels/{quoted(channel)}", body=body, again=True)
        return cast("Channel", answer)

    async def get_coverage(
        self,
        channel: str,
        *,
        platform: Optional[str] = None,
        thread: Optional[str] = None,
        workspace: Optional[str] = None,
    ) -> Covered:
        """What is missing of a channel, or of a thread: GET /v1/channels/{channel}/coverage.

        channel: the channel's id on its platform
        platform: the platform, where several have a channel with this id
        thread: the id of its root
        workspace: the workspace's id, where several have a channel with this id
        """
        answer = await self._transport.call("GET", f"/v1/channels/{quoted(channel)}/coverage", query={"platform": platform, "thread": thread, "workspace": workspace}, again=True)
        return cast("Covered", answer)

    async def list_messages(
        self,
        channel: str,
        *,
        after: Optional[str] = None,
        before: Optional[str] = None,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
        platform: Optional[str] = None,
        workspace: Optional[str] = None,
    ) -> MessagePage:
        """Messages of a channel, the newest page first: GET /v1/channels/{channel}/messages.

        channel: the channel's id on its platform
        after: said after this time
        before: said before this time (RFC 3339, or a Slack ts)
        cursor: from the page before; it goes on with older messages, and stands in before's
            place
        platform: the platform, where several have a channel with this id
        workspace: the workspace's id, where several have a channel with this id
        """
        answer = await self._transport.call("GET", f"/v1/channels/{quoted(channel)}/messages", query={"after": after, "before": before, "cursor": cursor, "limit": limit, "platform": platform, "workspace": workspace}, again=True)
        return cast("MessagePage", answer)

    async def delete_message(
        self,
        channel: str,
        id: str,
        *,
        platform: Optional[str] = None,
        workspace: Optional[str] = None,
    ) -> None:
        """Delete a message: DELETE /v1/channels/{channel}/messages/{id}.

        channel: the channel's id on its platform
        id: the message's id, unique within the channel
        platform: the platform, where several have a channel with this id
        workspace: the workspace's id, where several have a channel with this id
        """
        await self._transport.call("DELETE", f"/v1/channels/{quoted(channel)}/messages/{quoted(id)}", query={"platform": platform, "workspace": workspace}, again=True)

    async def get_message(
        self,
        channel: str,
        id: str,
        *,
        platform: Optional[str] = None,
        revisions: Optional[bool] = None,
        workspace: Optional[str] = None,
    ) -> MessageInfo:
        """One message: GET /v1/channels/{channel}/messages/{id}.

        channel: the channel's id on its platform
        id: the message's id, unique within the channel
        platform: the platform, where several have a channel with this id
        revisions: also return all revisions that are stored
        workspace: the workspace's id, where several have a channel with this id
        """
        answer = await self._transport.call("GET", f"/v1/channels/{quoted(channel)}/messages/{quoted(id)}", query={"platform": platform, "revisions": revisions, "workspace": workspace}, again=True)
        return cast("MessageInfo", answer)

    async def search_channel(
        self,
        channel: str,
        *,
        author: Optional[List[str]] = None,
        from_: Optional[str] = None,
        limit: Optional[int] = None,
        platform: Optional[str] = None,
        q: Optional[str] = None,
        to: Optional[str] = None,
        workspace: Optional[str] = None,
    ) -> HitList:
        """Search a channel: GET /v1/channels/{channel}/search.

        channel: the channel's id on its platform
        author: only what these authors said, by id; may be given several times
        from_: said at this time or later (RFC 3339, or a Slack ts)
        platform: the platform, where several have a channel with this id
        q: words, or a part in double quotes; a message's id finds the message
        to: said at this time or before
        workspace: the workspace's id, where several have a channel with this id
        """
        answer = await self._transport.call("GET", f"/v1/channels/{quoted(channel)}/search", query={"author": author, "from": from_, "limit": limit, "platform": platform, "q": q, "to": to, "workspace": workspace}, again=True)
        return cast("HitList", answer)

    async def get_thread(
        self,
        channel: str,
        id: str,
        *,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
        platform: Optional[str] = None,
        workspace: Optional[str] = None,
    ) -> Thread:
        """A thread: its root and the newest replies: GET /v1/channels/{channel}/threads/{id}.

        channel: the channel's id on its platform
        id: the id of the root, or of any message of the thread
        cursor: from the page before; it goes on with older replies
        platform: the platform, where several have a channel with this id
        workspace: the workspace's id, where several have a channel with this id
        """
        answer = await self._transport.call("GET", f"/v1/channels/{quoted(channel)}/threads/{quoted(id)}", query={"cursor": cursor, "limit": limit, "platform": platform, "workspace": workspace}, again=True)
        return cast("Thread", answer)

    async def make_context(
        self,
        body: ContextBody,
        *,
        idempotency_key: Optional[str] = None,
    ) -> ContextAnswer:
        """The context of a message: prompt, ledger, tokens, next: POST /v1/context.

        idempotency_key: with open: by which a repeated request is known as the same
        """
        answer = await self._transport.call("POST", "/v1/context", headers={"Idempotency-Key": idempotency_key}, body=body, again=True)
        return cast("ContextAnswer", answer)

    async def post_coverage(self, body: CoverageBody) -> Covered:
        """Say what is known of a channel or a thread, and what is not: POST /v1/coverage."""
        answer = await self._transport.call("POST", "/v1/coverage", body=body, again=True)
        return cast("Covered", answer)

    async def get_erasure(self, id: int) -> Erasure:
        """How far an erasure has come: GET /v1/erasures/{id}.

        id: as the deletion answered it
        """
        answer = await self._transport.call("GET", f"/v1/erasures/{quoted(id)}", again=True)
        return cast("Erasure", answer)

    async def post_events(
        self,
        body: Union[EventBatch, Event, Dict[str, Any]],
        *,
        platform: Optional[str] = None,
    ) -> ToldEvents:
        """Tell what was said: messages, edits, deletions, reactions: POST /v1/events.

        platform: slack or discord, where the events are raw deliveries of Slack or Discord
        """
        answer = await self._transport.call("POST", "/v1/events", query={"platform": platform}, body=body, again=True)
        return cast("ToldEvents", answer)

    async def list_feedback(
        self,
        *,
        channel: Optional[str] = None,
        cursor: Optional[str] = None,
        good: Optional[Literal["true", "false"]] = None,
        limit: Optional[int] = None,
        platform: Optional[str] = None,
        turn: Optional[int] = None,
        workspace: Optional[str] = None,
    ) -> FeedbackListBody:
        """What people think of answers, of the newest turns first: GET /v1/feedback.

        channel: of one channel
        cursor: from the page before
        good: only of those who think so
        platform: where several have a channel with this id
        turn: of one turn
        workspace: where several have a channel with this id
        """
        answer = await self._transport.call("GET", "/v1/feedback", query={"channel": channel, "cursor": cursor, "good": good, "limit": limit, "platform": platform, "turn": turn, "workspace": workspace}, again=True)
        return cast("FeedbackListBody", answer)

    async def get_file(
        self,
        file: str,
        *,
        channel: str,
        platform: Optional[str] = None,
        workspace: Optional[str] = None,
    ) -> bytes:
        """The content of a file, as models are given it: GET /v1/files/{file}.

        file: the file's id, as its messages have it
        channel: the channel's id on its platform
        platform: the platform, where several have a channel with this id
        workspace: the workspace's id, where several have a channel with this id
        """
        answer = await self._transport.call("GET", f"/v1/files/{quoted(file)}", query={"channel": channel, "platform": platform, "workspace": workspace}, again=True)
        return cast("bytes", answer)

    async def put_file(
        self,
        file: str,
        body: bytes,
        *,
        content_type: Optional[str] = None,
        channel: str,
        message: str,
        platform: Optional[str] = None,
        workspace: Optional[str] = None,
    ) -> StoredFile:
        """Give the content of a file that a message shares: PUT /v1/files/{file}.

        file: the file's id, as its messages have it
        content_type: the file's media type
        channel: the channel's id on its platform
        message: the id of a message that shares the file
        platform: the platform, where several have a channel with this id
        workspace: the workspace's id, where several have a channel with this id
        """
        answer = await self._transport.call("PUT", f"/v1/files/{quoted(file)}", query={"channel": channel, "message": message, "platform": platform, "workspace": workspace}, headers={"Content-Type": content_type}, body=body, again=True)
        return cast("StoredFile", answer)

    async def post_history(self, body: HistoryBody) -> ToldHistory:
        """Tell what was said before: pages of Slack's or Discord's history, or messages: POST /v1/history."""
        answer = await self._transport.call("POST", "/v1/history", body=body, again=True)
        return cast("ToldHistory", answer)

    async def get_me(self) -> CallerInfo:
        """Who calls: the key, what it reaches and may do: GET /v1/me."""
        answer = await self._transport.call("GET", "/v1/me", again=True)
        return cast("CallerInfo", answer)

    async def list_tools(self) -> ListBody:
        """The tools, described for a model: GET /v1/tools."""
        answer = await self._transport.call("GET", "/v1/tools", again=True)
        return cast("ListBody", answer)

    async def call_tool(self, name: str, body: Dict[str, Any]) -> ToolAnswer:
        """Call a tool of the one channel that the caller is for: POST /v1/tools/{name}."""
        answer = await self._transport.call("POST", f"/v1/tools/{quoted(name)}", body=body, again=True)
        return cast("ToolAnswer", answer)

    async def list_turns(
        self,
        *,
        agent: Optional[str] = None,
        channel: Optional[str] = None,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
        platform: Optional[str] = None,
        state: Optional[List[Literal["open", "claimed", "generating", "posting", "done", "failed", "parked", "dropped", "refused"]]] = None,
        workspace: Optional[str] = None,
    ) -> TurnsOutputBody:
        """Turns, newest first: GET /v1/turns.

        channel: turns of one channel
        cursor: from the page before
        platform: where several have a channel with this id
        state: one or several, with commas between them
        workspace: where several have a channel with this id
        """
        answer = await self._transport.call("GET", "/v1/turns", query={"agent": agent, "channel": channel, "cursor": cursor, "limit": limit, "platform": platform, "state": joined(state), "workspace": workspace}, again=True)
        return cast("TurnsOutputBody", answer)

    def stream_turns(
        self,
        *,
        last_event_id: Optional[int] = None,
        channel: Optional[str] = None,
        platform: Optional[str] = None,
        workspace: Optional[str] = None,
    ) -> AsyncIterator[ServerEvent]:
        """Turns as they change, as server-sent events: GET /v1/turns/events.

        last_event_id: the id of the last event that was read
        channel: turns of one channel
        platform: where several have a channel with this id
        workspace: where several have a channel with this id
        """
        return self._transport.stream("GET", "/v1/turns/events", query={"channel": channel, "platform": platform, "workspace": workspace}, headers={"Last-Event-ID": last_event_id}, again=True)

    async def list_open_turns(self) -> OpenTurnsOutputBody:
        """The turns that this key has opened and not ended: GET /v1/turns/open."""
        answer = await self._transport.call("GET", "/v1/turns/open", again=True)
        return cast("OpenTurnsOutputBody", answer)

    async def get_turn(self, id: int, *, prompt: Optional[bool] = None) -> WholeTurn:
        """One turn: what was asked, what the model saw and why, what it cost: GET /v1/turns/{id}.

        prompt: make the prompt again
        """
        answer = await self._transport.call("GET", f"/v1/turns/{quoted(id)}", query={"prompt": prompt}, again=True)
        return cast("WholeTurn", answer)

    async def abort_turn(self, id: str) -> AbortedTurn:
        """End an open turn without a reply: POST /v1/turns/{id}/abort.

        id: the turn's id
        """
        answer = await self._transport.call("POST", f"/v1/turns/{quoted(id)}/abort", again=True)
        return cast("AbortedTurn", answer)

    async def ask_approval(self, id: str, body: AskBody) -> Approval:
        """Ask people before an open turn calls a tool: POST /v1/turns/{id}/approvals.

        id: the turn's id
        """
        answer = await self._transport.call("POST", f"/v1/turns/{quoted(id)}/approvals", body=body)
        return cast("Approval", answer)

    async def commit_turn(self, id: str, body: CommitBody) -> CommittedTurn:
        """End an open turn with its reply: POST /v1/turns/{id}/commit.

        id: the turn's id
        """
        answer = await self._transport.call("POST", f"/v1/turns/{quoted(id)}/commit", body=body, again=True)
        return cast("CommittedTurn", answer)

    async def remove_feedback(self, id: str, *, author: Optional[str] = None) -> None:
        """Take back what somebody thinks of an answer: DELETE /v1/turns/{id}/feedback.

        id: the turn's id
        author: the id of who takes it back; of a user's token it is its subject
        """
        await self._transport.call("DELETE", f"/v1/turns/{quoted(id)}/feedback", query={"author": author}, again=True)

    async def put_feedback(self, id: str, body: FeedbackBody) -> Feedback:
        """Tell what somebody thinks of an answer: PUT /v1/turns/{id}/feedback.

        id: the turn's id
        """
        answer = await self._transport.call("PUT", f"/v1/turns/{quoted(id)}/feedback", body=body, again=True)
        return cast("Feedback", answer)

    async def renew_turn(self, id: str, body: Optional[RenewBody] = None) -> HeldTurn:
        """Keep an open turn, and hear what has become of its question: POST /v1/turns/{id}/renew.

        id: the turn's id
        """
        answer = await self._transport.call("POST", f"/v1/turns/{quoted(id)}/renew", body=body, again=True)
        return cast("HeldTurn", answer)

    async def wait_turn(self, id: str, body: Optional[WaitBody] = None) -> HeldTurn:
        """Let an open turn wait for what it has asked: POST /v1/turns/{id}/wait.

        id: the turn's id
        """
        answer = await self._transport.call("POST", f"/v1/turns/{quoted(id)}/wait", body=body)
        return cast("HeldTurn", answer)

    async def usage(
        self,
        *,
        agent: Optional[str] = None,
        channel: Optional[str] = None,
        from_: Optional[str] = None,
        platform: Optional[str] = None,
        to: Optional[str] = None,
        workspace: Optional[str] = None,
    ) -> UsageOutputBody:
        """Tokens of answered turns, by agent, channel and policy: GET /v1/usage.

        channel: of one channel
        from_: turns that were opened at this time or later
        platform: where several have a channel with this id
        to: turns that were opened before this time
        workspace: where several have a channel with this id
        """
        answer = await self._transport.call("GET", "/v1/usage", query={"agent": agent, "channel": channel, "from": from_, "platform": platform, "to": to, "workspace": workspace}, again=True)
        return cast("UsageOutputBody", answer)
