"""What a stack's file declares besides its workloads, part by part; Platform is the whole."""
