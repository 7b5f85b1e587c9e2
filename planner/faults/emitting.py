"""E7xx: a plan that cannot be turned into resources, and runs of Pulumi that must not go on."""

from planner.errors import EXIT_FAULT, Code

NOT_EMITTABLE = Code(
    "E701",
    "the plan cannot be turned into resources",
    "the plan or the account, with a line for each reason",
    "Correct what each line names, and plan again.",
    "Everything is checked before anything is registered: nothing of such a plan is created.",
    EXIT_FAULT,
)
NOT_ALLOWED = Code(
    "E702",
    "a plan that may not proceed is not rendered",
    "the plan",
    "Correct what `llm-capacity check` names, and render again.",
    "Manifests of a denied plan would be applied sooner or later.",
    EXIT_FAULT,
)
SERVER_DOES_NOT_FIT = Code(
    "E703",
    "a server would never run on the nodes that it is given",
    "the server",
    "Choose another machine or layout.",
    "GPUs, memory and shared memory of a server have to be there on one node, or on the nodes "
    "that its layout names.",
    EXIT_FAULT,
)
POOL_TOO_SMALL = Code(
    "E704",
    "a node pool is smaller than its servers",
    "the node pool",
    "Plan again: the pool is sized from its servers.",
    "The cluster's scaler would leave replicas pending for good.",
    EXIT_FAULT,
)
QUOTA_EXCEEDED = Code(
    "E705",
    "the plan needs more nodes of a machine type than the cluster is declared to have",
    "the cluster",
    "Ask for more and raise the cluster's nodes, or pin a workload elsewhere.",
    "Workloads are sized one by one; together they may exceed what each could have alone.",
    EXIT_FAULT,
)
BAD_OBJECT_NAME = Code(
    "E706",
    "an object would get no name, too long a name, or that of another one",
    "the cluster and the object",
    "Rename the workload, the pool or the stack.",
    "Names of objects are made from those declared, and Kubernetes takes 63 characters.",
    EXIT_FAULT,
)
NOT_AS_ESTIMATED = Code(
    "E707",
    "a server is configured otherwise than it was sized",
    "the server",
    "Plan again: both come from one sizing.",
    "Capacity and cost were estimated with these numbers; others would not carry the demand.",
    EXIT_FAULT,
)
TIMES_CLASH = Code(
    "E708",
    "times of a server contradict each other",
    "the server",
    "Change the setting that the message names, so that loading and draining have their time.",
    "A probe shorter than the load restarts a server for ever; a grace shorter than an answer "
    "cuts it.",
    EXIT_FAULT,
)
UNKNOWN_METRIC = Code(
    "E709",
    "a scaling query asks for what the server does not export",
    "the server",
    "Ask for a metric and a label that the server has.",
    "A query without an answer scales nothing, silently.",
    EXIT_FAULT,
)
NOT_PINNED = Code(
    "E710",
    "an image, weights or flag that may be something else tomorrow, or run code of strangers",
    "the server",
    "Give the digest or the revision, or take the flag out.",
    "What was approved has to be what runs.",
    EXIT_FAULT,
)
HOLDS_SECRET_VALUE = Code(
    "E711",
    "an object would hold a secret in plain text",
    "the object",
    "Name a Secret and its key instead.",
    "Manifests are stored in Git, in the state and in the cluster's history.",
    EXIT_FAULT,
)
OUTSIDE_RESIDENCY = Code(
    "E712",
    "nodes lie outside of the workload's residency",
    "the server",
    "Plan again, on a cluster inside of the residency.",
    "The last look before anything is created: a place that is not known counts as outside.",
    EXIT_FAULT,
)
WRONG_NODES = Code(
    "E713",
    "pods and their nodes do not belong together",
    "the server, the namespace or the node pool",
    "Give each tier its own nodes and namespace, and each server the labels of its pool.",
    "Tiers never share nodes, and interactive servers never run on nodes that the cloud may "
    "take back.",
    EXIT_FAULT,
)
SITE_INCOMPLETE = Code(
    "E714",
    "an account or a cluster lacks a setting that the cloud cannot do without",
    "the node pool, the account or the cluster",
    "Add the setting to its account or cluster in platform.yaml.",
    "Preview needs none of them, so that they are asked for where they are used.",
    EXIT_FAULT,
)
UNSUPPORTED_RELEASE = Code(
    "E715",
    "the vLLM release or the cloud has no way to do what the plan needs",
    "the server or the node pool",
    "Use a release or a cloud that the message names.",
    "Flags and kinds of objects are looked up for the release that is declared.",
    EXIT_FAULT,
)
ANOTHER_PACK = Code(
    "E720",
    "another run's policy pack stands in the way",
    "the file or folder",
    "End the other run or remove what the message names, and run again.",
    "A program only registers resources when its policy pack watches the same run.",
    EXIT_FAULT,
)
ANOTHER_STACK = Code(
    "E721",
    "a resource of another stack, or one after a violation",
    "the resource",
    "Run each stack by itself, and correct the first violation.",
    "The pack judges resources against one plan.",
    EXIT_FAULT,
)
NO_PACK = Code(
    "E722",
    "a change without the policy pack's eyes",
    "policy pack",
    "Run again with --policy-pack and the pack of this project.",
    "The pack holds every resource that is really registered against the plan; a preview may go "
    "without.",
    EXIT_FAULT,
)
NO_KUBECONFIG = Code(
    "E723",
    "a cluster's kubeconfig is not set, or blank",
    "the stack's configuration",
    "Set it from its file, as a secret.",
    "A provider without a kubeconfig would take the cluster that the shell happens to point at.",
    EXIT_FAULT,
)
CLUSTER_UNREACHABLE = Code(
    "E724",
    "a cluster does not answer",
    "clusters, with a line for each",
    "Check the network, and the kubeconfig under llm-capacity:kubeconfig-CLUSTER.",
    "A run that can change some of its clusters only would leave half a plan behind.",
    EXIT_FAULT,
)
NOT_SIGNED = Code(
    "E725",
    "creating a resource would be a purchase that nobody signed for",
    "the stack, with a line for each order",
    "Have the orders signed, and add their digests to the stack's configuration.",
    "A commitment is paid to the end of its term: a person signs for it.",
    EXIT_FAULT,
)
NO_SDK = Code(
    "E726",
    "the SDK of a cloud that the plan uses is not installed",
    "the cloud",
    "Install the extra of that cloud: azure, aws or gcp.",
    "The SDKs are large, so that each is installed where it is needed.",
    EXIT_FAULT,
)
