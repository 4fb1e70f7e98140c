/** What `--command` sets: it takes the place of the file's agent, and runs once for each rollout. */
export function commandOverrides(command: string): readonly string[] {
  return [
    "agent=null",
    "agent_command.serves=false",
    `agent_command.run=${JSON.stringify(command)}`,
  ];
}
