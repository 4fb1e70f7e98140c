// The team where there are no threads: the caller runs every piece.
#include "../platform/team.h"

int team_threads(const struct team *team) {
  (void)team;
  return 1;
}
void team_run(struct team *team, team_part part, void *context, int pieces) {
  (void)team;
  for (int piece = 0; piece < pieces; piece++) part(context, piece, pieces, 0);
}
