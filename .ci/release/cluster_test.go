package release

import (
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// The manifests are rendered as kubectl does it, and read by Kubernetes' own types,
// which know no other fields. What one names of another is there.
func TestTheManifestsFitTogether(t *testing.T) {
	t.Parallel()
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(first, "deploy/kubernetes"))
	if err != nil {
		t.Fatal(err)
	}
	var secret corev1.Secret
	var deployment appsv1.Deployment
	var service corev1.Service
	var budget policyv1.PodDisruptionBudget
	var policy networkingv1.NetworkPolicy
	into := map[string]any{"Secret": &secret, "Deployment": &deployment, "Service": &service, "PodDisruptionBudget": &budget, "NetworkPolicy": &policy}
	for _, r := range rendered.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(text, into[r.GetKind()]); err != nil {
			t.Errorf("%s: %v", r.GetKind(), err)
		}
		delete(into, r.GetKind())
	}
	if len(into) > 0 {
		t.Fatalf("not rendered: %v", slices.Sorted(maps.Keys(into)))
	}
	var monitor struct {
		APIVersion, Kind string
		Metadata         struct {
			Name   string
			Labels map[string]string
		}
		Spec struct {
			Selector  struct{ MatchLabels map[string]string }
			Endpoints []struct{ Port, Path, Interval string }
		}
	}
	if err := yaml.UnmarshalStrict(read(t, first, "deploy/kubernetes/servicemonitor.yaml"), &monitor); err != nil {
		t.Fatal(err)
	}

	pod := deployment.Spec.Template
	for name, selector := range map[string]map[string]string{
		"Deployment": deployment.Spec.Selector.MatchLabels, "Service": service.Spec.Selector,
		"PodDisruptionBudget": budget.Spec.Selector.MatchLabels, "NetworkPolicy": policy.Spec.PodSelector.MatchLabels,
	} {
		if len(selector) == 0 || !maps.Equal(selector, pod.Labels) {
			t.Errorf("%s selects %v, and a pod has %v", name, selector, pod.Labels)
		}
	}
	if !maps.Equal(monitor.Spec.Selector.MatchLabels, service.Labels) || len(monitor.Spec.Endpoints) != 1 {
		t.Errorf("the monitor selects %v, and the service has %v", monitor.Spec.Selector.MatchLabels, service.Labels)
	}

	c := pod.Spec.Containers[0]
	ports := map[string]bool{}
	for _, p := range c.Ports {
		ports[p.Name] = true
	}
	named := map[string]intstr.IntOrString{
		"startupProbe": c.StartupProbe.HTTPGet.Port, "livenessProbe": c.LivenessProbe.HTTPGet.Port, "readinessProbe": c.ReadinessProbe.HTTPGet.Port,
	}
	served := map[string]bool{}
	for _, p := range service.Spec.Ports {
		served[p.Name] = true
		named["the service's "+p.Name] = p.TargetPort
	}
	for n, rule := range policy.Spec.Ingress {
		for _, p := range rule.Ports {
			named[fmt.Sprintf("rule %d of the policy", n)] = *p.Port
		}
	}
	for who, port := range named {
		if !ports[port.StrVal] {
			t.Errorf("%s names the port %q, which the container does not have", who, port.String())
		}
	}
	if !served[monitor.Spec.Endpoints[0].Port] {
		t.Errorf("the monitor names the port %q, which the service does not have", monitor.Spec.Endpoints[0].Port)
	}

	if c.EnvFrom[0].SecretRef.Name != secret.Name {
		t.Errorf("the container reads the secret %q, and it is %q", c.EnvFrom[0].SecretRef.Name, secret.Name)
	}
	if *deployment.Spec.Replicas < 2 || budget.Spec.MinAvailable.IntValue() >= int(*deployment.Spec.Replicas) {
		t.Errorf("of %d replicas %d must stay: no node can be drained", *deployment.Spec.Replicas, budget.Spec.MinAvailable.IntValue())
	}
	if p, s := pod.Spec.SecurityContext, c.SecurityContext; !*p.RunAsNonRoot || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || s.Capabilities.Drop[0] != "ALL" {
		t.Errorf("the pod may more than it needs: %+v %+v", p, s)
	}
	if env := c.Env[0]; env.Name != "EARSHOT_API_HOSTS" || env.Value != service.Name {
		t.Errorf("clients call %q, and the API serves %s=%q", service.Name, env.Name, env.Value)
	}
}

// The overlay of docs/install.md, over this checkout, is rendered with its image and
// with a secret that has nothing left of the one that it replaces.
func TestTheOverlayOfTheDocs(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(string(read(t, first, "docs/install.md")), "    # kustomization.yaml\n")
	text, _, _ = strings.Cut(text, "\n\n")
	text = regexp.MustCompile(`(?m)^    |#.*`).ReplaceAllString(text, "")
	folder := filepath.Join(first, "overlay")
	text = regexp.MustCompile(`(?m)- https:.*$`).ReplaceAllString(text, "- ../deploy/kubernetes")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"kustomization.yaml": text, "secret.env": "EARSHOT_DB=postgres://mine\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	all, err := rendered.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	got := string(all)
	if !strings.Contains(got, "image: earshot/earshot:"+version) || strings.Contains(got, "REPLACE") || !strings.Contains(got, base64.StdEncoding.EncodeToString([]byte("postgres://mine"))) {
		t.Errorf("got\n%s", got)
	}
}

// The three profiles of compose.yaml are valid by the specification's schema, and start
// what they say.
func TestTheProfilesOfCompose(t *testing.T) {
	t.Parallel()
	for profile, want := range map[string][]string{
		"bot":      {"bot"},
		"replicas": {"postgres", "replica"},
		"sidecar":  {"python-bot", "sidecar"},
	} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			options, err := cli.NewProjectOptions([]string{filepath.Join(first, "compose.yaml")}, cli.WithProfiles([]string{profile}))
			if err != nil {
				t.Fatal(err)
			}
			project, err := options.LoadProject(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Sorted(maps.Keys(project.Services)); !slices.Equal(got, want) {
				t.Errorf("got the services %q, want %q", got, want)
			}
			for _, s := range project.Services {
				for _, v := range s.Volumes {
					if v.Type == types.VolumeTypeBind && !strings.HasPrefix(v.Source, first) {
						t.Errorf("%s mounts %s", s.Name, v.Source)
					} else if v.Type == types.VolumeTypeBind {
						output(t, "ls", v.Source)
					}
				}
				if s.Build != nil && (!s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || s.Ports != nil && s.Ports[0].HostIP != "127.0.0.1") {
					t.Errorf("%s may more than it needs: %+v", s.Name, s)
				}
			}
		})
	}
}
