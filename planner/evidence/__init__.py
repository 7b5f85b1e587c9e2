"""What a run leaves so that its decision can be checked later: archive, attestation, replay."""
