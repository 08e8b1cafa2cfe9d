#!/usr/bin/env bash
# Prints text for people; the registry makes data of it (textExtraction).
cat <<'LIST'
Here is what our readers liked best:

1. **The Sea and its Maps** by Ada Lind (1,204 votes)
2. **Bread in Five Hours** by Jon Oka (987 votes)
3. **A Short History of Knots** by Mia Roth (45 votes)
LIST
