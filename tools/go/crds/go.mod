module llm-capacity/tools/crds

go 1.26.0

require (
	github.com/kedacore/keda/v2 v2.21.0
	github.com/prometheus-operator/prometheus-operator v0.85.0
	sigs.k8s.io/gateway-api v1.6.3
	sigs.k8s.io/karpenter v1.14.0
	sigs.k8s.io/kueue v0.17.0
	sigs.k8s.io/kwok v0.8.0
)
