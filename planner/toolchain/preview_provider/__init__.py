"""A provider that answers previews from the typed SDK and refuses everything real.

Pull-request pipelines have no cloud credentials, and the cloud providers ask for them even at
preview. This one stands in for azure-native, aws and gcp: it checks property names and types
against the Python SDKs, so that a preview still finds a misspelt property, and never contacts
anything.
"""
