"""Files that are made from the code, so that documentation and schemas cannot drift from it."""
