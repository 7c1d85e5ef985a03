"""What the policy and the configuration schema share: field types, times, documents, problems."""
