// What src/langchain.ts calls of @langchain/core, so that this package compiles without it.

declare module "@langchain/core/messages" {
  export function coerceMessageLikeToMessage(message: object): any;
  export class ToolMessage {
    constructor(fields: { name: string; content: string; tool_call_id: string; status: "success" | "error"; artifact: unknown });
  }
}

declare module "@langchain/core/tools" {
  export function tool(
    run: (args: Record<string, unknown>, config: { toolCall?: { id?: string } }) => Promise<unknown>,
    fields: { name: string; description: string; schema: Record<string, unknown> },
  ): any;
}
