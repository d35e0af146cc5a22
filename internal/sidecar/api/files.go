package api

import (
	"context"
	"mime"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// filePath begins the path of the routes whose bodies are files.
const filePath = "/v1/files/"

// maxUploads bounds the files that are taken at a time; others wait.
const maxUploads = 8

// addFiles adds the routes of what files contain.
func (s *server) addFiles(a huma.API) {
	bytes := &huma.Schema{Type: huma.TypeString, Format: "binary"}
	put := huma.Operation{
		OperationID: "put-file", Method: http.MethodPut, Path: filePath + "{file}", Summary: "Give the content of a file that a message shares",
		Description: "The body is the file, up to 20 MiB, with its media type as Content-Type; the bytes decide. It is kept as models are given it: pictures scaled, texts as UTF-8, PDFs and recordings as they are. " +
			"Told again, it is the same. Prompts then have the file as a part, and the tool channel_messages brings it. It is erased with the last message that shares it; a channel keeps 64 MiB, and what was given longest ago goes first.",
		MaxBodyBytes: sidecar.MaxFile + 1, SkipValidateBody: true,
	}
	put.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{}}
	addRoute(s, a, put, s.putFile)
	put.RequestBody.Content["application/octet-stream"] = &huma.MediaType{Schema: bytes}
	addRoute(s, a, huma.Operation{
		OperationID: "get-file", Method: http.MethodGet, Path: filePath + "{file}", Summary: "The content of a file, as models are given it",
		Description: "It has its media type, and is to be saved rather than shown. It is 404 where nobody gave the content, or a channel had no room to keep it.",
		Responses:   map[string]*huma.Response{"200": {Description: "the file, with its media type", Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: bytes}}}},
	}, s.getFile)
}

// A FileNamed is how a request names a file.
type FileNamed struct {
	File      string `path:"file" minLength:"1" maxLength:"512" doc:"the file's id, as its messages have it"`
	Channel   string `query:"channel" required:"true" maxLength:"512" doc:"the channel's id on its platform"`
	Workspace string `query:"workspace" maxLength:"512" doc:"the workspace's id, where several have a channel with this id"`
	Platform  string `query:"platform" maxLength:"64" doc:"the platform, where several have a channel with this id"`
}

func (f FileNamed) place() visible.Place {
	return visible.Place{Channel: earshot.ChannelID(f.Channel), Workspace: earshot.WorkspaceID(f.Workspace), Platform: earshot.Platform(f.Platform)}
}

type putFileInput struct {
	FileNamed
	Message string `query:"message" required:"true" maxLength:"512" doc:"the id of a message that shares the file"`
	Type    string `header:"Content-Type" doc:"the file's media type"`
	RawBody []byte `contentType:"application/octet-stream"`
}

// A storedFile is a file that is kept.
type storedFile struct {
	ID     string `json:"id"`
	Type   string `json:"type" doc:"media type of what models are given"`
	Size   int    `json:"size" doc:"of what models are given, in bytes"`
	SHA256 string `json:"sha256" doc:"of the file as it was shared"`
}

func (s *server) putFile(ctx context.Context, p access.Principal, in *putFileInput) (*struct{ Body storedFile }, error) {
	b, err := s.Service.PutFile(ctx, p, sidecar.NewFile{Channel: in.place(), Message: earshot.MessageID(in.Message), ID: earshot.ArtifactID(in.File), Type: in.Type, Data: in.RawBody})
	if err != nil {
		return nil, err
	}
	return &struct{ Body storedFile }{storedFile{in.File, b.Type, len(b.Data), b.SHA256}}, nil
}

// A fileOutput is the bytes. They are somebody's: a browser that is led here must not
// show them as a page of ours.
type fileOutput struct {
	Type        string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Body        []byte
}

func (s *server) getFile(ctx context.Context, p access.Principal, in *struct{ FileNamed }) (*fileOutput, error) {
	b, err := s.Service.File(ctx, p, in.place(), earshot.ArtifactID(in.File))
	if err != nil {
		return nil, err
	}
	return &fileOutput{b.Type, mime.FormatMediaType("attachment", map[string]string{"filename": b.Name}), b.Data}, nil
}

// A promptFile is a file that a prompt has as a part.
type promptFile struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Type    string `json:"type,omitempty"`
	Size    int64  `json:"size,omitempty"`
	SHA256  string `json:"sha256,omitempty"`
	Message string `json:"message,omitempty" doc:"a message that shares it"`
	Stored  bool   `json:"stored" doc:"its content is kept: GET /v1/files/{file}; else PUT gives it"`
}

func promptFiles(list []sidecar.PromptFile) []promptFile {
	var out []promptFile
	for _, f := range list {
		out = append(out, promptFile{string(f.ID), f.Name, f.Type, f.Size, f.SHA256, string(f.Message), f.Stored})
	}
	return out
}
